-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 13
BEGIN;
SELECT current_setting('server_version_num')::int < 190000 AS no_select \gset
SELECT plan(8);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10);
SELECT ringfence.protect('stock', 'fence');
SELECT is_empty(
    $$INSERT INTO stock VALUES ('a', 4, 1) ON CONFLICT DO NOTHING RETURNING 1$$,
    'a stale writer writes nothing, and is told so by the count');

SELECT ringfence.protect('stock', 'fence', 'stock:{sku}');
SELECT is_empty(
    $$INSERT INTO stock VALUES ('a', 4, 1) ON CONFLICT DO NOTHING RETURNING 1$$,
    'the same with a resource: no row is written');
SELECT is(ringfence.high_water('stock:a'), 0::bigint,
    'and no fence has been stored by it');
SELECT throws_ok(
    $$INSERT INTO stock VALUES ('b', 4, 1) ON CONFLICT DO NOTHING$$,
    'RF003', 'write is not fenced',
    'a row that is written needs its claim');

\if :no_select
SELECT throws_ok($$INSERT INTO stock VALUES ('a', 4, 1) ON CONFLICT (sku) DO SELECT
    RETURNING *$$, '42601', NULL, 'before PostgreSQL 19 there is no DO SELECT')
FROM generate_series(1, 3);
\else
SELECT results_eq(
    $$INSERT INTO stock VALUES ('a', 4, 1) ON CONFLICT (sku) DO SELECT
      RETURNING *$$, $$VALUES ('a', 5::bigint, 10)$$,
    'DO SELECT shows the row that is there');
SELECT results_eq(
    $$INSERT INTO stock VALUES ('a', 4, 1) ON CONFLICT (sku) DO SELECT FOR UPDATE
      RETURNING *$$, $$VALUES ('a', 5::bigint, 10)$$, 'and may lock it');
SELECT throws_ok(
    $$INSERT INTO stock VALUES ('b', 4, 1) ON CONFLICT (sku) DO SELECT
      RETURNING *$$, 'RF003', 'write is not fenced',
    'a row that is written needs its claim');
\endif
SELECT results_eq('SELECT * FROM stock', $$VALUES ('a', 5::bigint, 10)$$,
    'the row stays as it was');

SELECT * FROM finish();
ROLLBACK;
