-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 12
BEGIN;
-- Before PostgreSQL 14 plain tables have a trigger on rows, as partitioned ones
-- have everywhere, and none on statements.
SELECT current_setting('server_version_num')::int < 140000 AS by_row \gset
SELECT plan(7);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10);
SELECT ringfence.protect('stock', 'fence');

SELECT throws_ok(
    $$INSERT INTO stock VALUES ('a', 9, 1)
      ON CONFLICT (sku) DO UPDATE SET left_over = EXCLUDED.left_over$$,
    'RF003', 'write is not fenced',
    'DO UPDATE that leaves the fence out is refused');
\if :by_row
SAVEPOINT s;
SELECT lives_ok(
    $$INSERT INTO stock VALUES ('new', 9, 1)
      ON CONFLICT (sku) DO UPDATE SET left_over = EXCLUDED.left_over$$,
    'but not before there is a conflict');
ROLLBACK TO s;
\else
SELECT throws_ok(
    $$INSERT INTO stock VALUES ('new', 9, 1)
      ON CONFLICT (sku) DO UPDATE SET left_over = EXCLUDED.left_over$$,
    'RF003', 'write is not fenced',
    'before the first conflict too: found in the first test, not later');
\endif
SELECT throws_ok(
    $$INSERT INTO stock VALUES ('a', 4, 1) ON CONFLICT (sku) DO UPDATE
      SET left_over = EXCLUDED.left_over, fence = EXCLUDED.fence$$,
    'RF001', 'fence is stale', 'a lower fence is refused');
SELECT lives_ok(
    $$INSERT INTO stock VALUES ('a', 6, 1) ON CONFLICT (sku) DO UPDATE
      SET left_over = EXCLUDED.left_over, fence = EXCLUDED.fence$$,
    'a greater fence passes');
SELECT lives_ok(
    $$INSERT INTO stock VALUES ('b', 2, 1) ON CONFLICT (sku) DO UPDATE
      SET left_over = EXCLUDED.left_over, fence = EXCLUDED.fence$$,
    'a new row passes');
SELECT throws_ok(
    $$WITH first AS (INSERT INTO stock VALUES ('a', 7, 2)
          ON CONFLICT (sku) DO UPDATE SET fence = EXCLUDED.fence RETURNING 1)
      INSERT INTO stock VALUES ('b', 7, 2)
          ON CONFLICT (sku) DO UPDATE SET left_over = EXCLUDED.left_over$$,
    'RF003', 'write is not fenced',
    'one part that names it does not speak for another');
SELECT results_eq('SELECT * FROM stock ORDER BY sku',
    $$VALUES ('a', 6::bigint, 1), ('b', 2, 1)$$,
    'only the fenced writes are in the table');

SELECT * FROM finish();
ROLLBACK;
