-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 7
BEGIN;
SELECT plan(5);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10), ('b', 7, 10);
SELECT ringfence.protect('stock', 'fence');

SELECT throws_ok($$UPDATE stock SET left_over = 9, fence = 4 WHERE sku = 'a'$$,
    'RF001', 'fence is stale', 'a lower fence is refused');
SELECT throws_ok($$UPDATE stock SET left_over = 9, fence = 6$$,
    'RF001', 'fence is stale',
    'one newer row among many is enough to refuse the statement');
SELECT throws_ok(
    $$UPDATE stock SET sku = 'a', fence = 4, left_over = 9 WHERE sku = 'a'$$,
    'RF001', 'fence is stale',
    'a client that writes back all columns is refused by the fence it read');
SELECT lives_ok(
    $$UPDATE stock SET sku = 'a', fence = 5, left_over = 9 WHERE sku = 'a'$$,
    'and passes when that is still the newest');
SELECT results_eq('SELECT fence, left_over FROM stock ORDER BY sku',
    $$VALUES (5::bigint, 9), (7, 10)$$, 'nothing stale is in the table');

SELECT * FROM finish();
ROLLBACK;
