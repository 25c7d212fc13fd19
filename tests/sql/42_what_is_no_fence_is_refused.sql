-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 3
BEGIN;
SELECT plan(13);

CREATE TABLE stock (
    sku text PRIMARY KEY, fence bigint DEFAULT NULL, left_over int);
INSERT INTO stock VALUES ('a', 5, 10), ('new', NULL, 10), ('zero', 0, 10);
SELECT ringfence.protect('stock', 'fence');

SELECT throws_ok($$UPDATE stock SET fence = NULL WHERE sku = 'a'$$,
    'RF004', 'argument is invalid', 'NULL is refused');
SELECT throws_ok($$UPDATE stock SET fence = DEFAULT WHERE sku = 'a'$$,
    'RF004', 'argument is invalid', 'so is a default of NULL');
SELECT throws_ok($$UPDATE stock SET fence = NULL WHERE sku = 'new'$$,
    'RF004', 'argument is invalid', 'also on a row that had none');
SELECT throws_ok($$UPDATE stock SET fence = 0 WHERE sku = 'zero'$$,
    'RF004', 'argument is invalid', '0 is refused');
SELECT throws_ok($$UPDATE stock SET fence = -1 WHERE sku = 'a'$$,
    'RF004', 'argument is invalid', 'a negative fence is refused');
SELECT throws_ok($$UPDATE stock SET fence = 9007199254740992$$,
    'RF004', 'argument is invalid', '2^53 is refused');
SELECT throws_ok($$UPDATE stock SET fence = 9223372036854775807$$,
    'RF004', 'argument is invalid', '2^63 - 1 is refused');
SELECT lives_ok($$UPDATE stock SET fence = 1 WHERE sku IN ('new', 'zero')$$,
    'rows that never had a fence take any');
SELECT lives_ok($$UPDATE stock SET fence = 9007199254740991$$,
    '2^53 - 1 is a fence');
SELECT lives_ok($$INSERT INTO stock VALUES ('c', NULL, 1), ('d', 0, 1)$$,
    'a new row may be without a fence');

-- The ceiling is the administrator's, lower or higher than that.
UPDATE stock SET fence = 9007199254740991 WHERE sku = 'd';
SET ringfence.max_fence = '9007199254740993';
SELECT lives_ok($$UPDATE stock SET fence = 9007199254740992 WHERE sku = 'd'$$,
    'above 2^53 where that may be');
INSERT INTO stock VALUES ('e', 5, 1);
SET ringfence.max_fence = '100';
SELECT throws_ok($$UPDATE stock SET fence = 101 WHERE sku = 'e'$$,
    'RF004', 'argument is invalid', 'a fence above a lower ceiling is refused');
SELECT lives_ok($$UPDATE stock SET fence = 100 WHERE sku = 'e'$$,
    'and the ceiling is one');

SELECT * FROM finish();
ROLLBACK;
