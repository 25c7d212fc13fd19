-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(15);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10), ('b', 9, 10), ('c', NULL, 10);
SELECT ringfence.protect('stock', 'fence', 'stock:{sku}');
SELECT ringfence.guard('stock:a', 7, 'h');
SELECT ringfence.guard('stock:b', 7, 'h');
SELECT ringfence.guard('stock:c', 7, 'h');
SELECT ringfence.guard('stock:d', 7, 'h');

SELECT throws_ok($$UPDATE stock SET left_over = 9 WHERE sku = 'a'$$,
    'RF003', 'write is not fenced', 'the fence must be named');
SELECT throws_ok($$UPDATE stock SET fence = 6 WHERE sku = 'a'$$,
    'RF003', 'write is not fenced', 'a fence below the claim is refused');
SELECT throws_ok($$UPDATE stock SET fence = 8 WHERE sku = 'a'$$,
    'RF003', 'write is not fenced', 'a fence above the claim is refused');
SELECT throws_ok($$UPDATE stock SET fence = NULL WHERE sku = 'c'$$,
    'RF004', 'argument is invalid', 'NULL is refused');
SELECT throws_ok($$UPDATE stock SET fence = 7 WHERE sku = 'b'$$,
    'RF001', 'fence is stale', 'a row with a newer fence is left alone');
SELECT throws_ok($$DELETE FROM stock WHERE sku = 'b'$$,
    'RF001', 'fence is stale', 'and not deleted');
SELECT lives_ok($$UPDATE stock SET fence = 7 WHERE sku IN ('a', 'c')$$,
    'the claimed fence passes');
SELECT throws_ok($$UPDATE stock SET left_over = 9 WHERE sku = 'a'$$,
    'RF003', 'write is not fenced',
    'the fence must be named even where the row has it already');
SELECT throws_ok($$INSERT INTO stock VALUES ('d', 6, 1)$$,
    'RF003', 'write is not fenced', 'a new row has the claimed fence');
SELECT throws_ok($$INSERT INTO stock VALUES ('d', NULL, 1)$$,
    'RF004', 'argument is invalid', 'and not none');
SELECT lives_ok($$INSERT INTO stock VALUES ('d', 7, 1)$$,
    'then it passes');
SELECT lives_ok($$DELETE FROM stock WHERE sku = 'a'$$,
    'DELETE passes with the claim');


SELECT ringfence.unprotect('stock');
INSERT INTO stock VALUES ('none', NULL, 1), ('zero', 0, 1), ('less', -1, 1);
SELECT ringfence.protect('stock', 'fence', 'stock:{sku}');
SELECT throws_ok($$DELETE FROM stock WHERE sku = 'none'$$,
    'RF003', 'write is not fenced',
    'a row that never had a fence needs the claim as well');
SELECT throws_ok($$DELETE FROM stock WHERE sku = 'zero'$$,
    'RF003', 'write is not fenced', 'also when it has 0');
SELECT throws_ok($$DELETE FROM stock WHERE sku = 'less'$$,
    'RF003', 'write is not fenced', 'or less');

SELECT * FROM finish();
ROLLBACK;
