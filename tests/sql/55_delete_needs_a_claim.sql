-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 17
BEGIN;
SELECT plan(9);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 7, 10);
SELECT ringfence.protect('stock', 'fence');

SELECT throws_ok('DELETE FROM stock', 'RF003', 'write is not fenced',
    'by column alone DELETE is refused: it carries no fence');
SELECT throws_ok(
    $$WITH d AS (DELETE FROM stock RETURNING sku)
      INSERT INTO stock SELECT sku || '2', 2, 0 FROM d$$,
    'RF003', 'write is not fenced', 'also together with an INSERT');
SELECT lives_ok($$DELETE FROM stock WHERE sku = 'none'$$,
    'a DELETE of nothing writes nothing');

SELECT ringfence.protect('stock', 'fence', 'stock:{sku}');
SELECT throws_ok('DELETE FROM stock', 'RF003', 'write is not fenced',
    'with a resource it needs the claim');
SELECT ringfence.guard('stock:a', 8, 'new');
SELECT lives_ok('DELETE FROM stock', 'and passes with it');

-- The old holder, later: the row is gone, but its number is remembered.
SELECT throws_ok($$SELECT ringfence.guard('stock:a', 7, 'old')$$,
    'RF001', 'fence is stale', 'the old holder gets no claim');
SELECT throws_ok($$INSERT INTO stock VALUES ('a', 7, 0)$$,
    'RF003', 'write is not fenced',
    'and does not bring its row back');
SELECT lives_ok($$INSERT INTO stock VALUES ('a', 8, 0)$$,
    'the new holder may');
SELECT results_eq('TABLE stock', $$VALUES ('a', 8::bigint, 0)$$,
    'only the fenced writes are in the table');

SELECT * FROM finish();
ROLLBACK;
