-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 1
BEGIN;
-- Before PostgreSQL 14 plain tables have a trigger on rows, as partitioned ones
-- have everywhere, and none on statements.
SELECT current_setting('server_version_num')::int < 140000 AS by_row \gset
SELECT plan(6);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10), ('b', NULL, 10);
SELECT ringfence.protect('stock', 'fence');

SELECT throws_ok($$UPDATE stock SET left_over = 9$$,
    'RF003', 'write is not fenced',
    'an UPDATE that does not name the fence is refused');
SELECT throws_ok($$UPDATE stock SET left_over = 9 WHERE sku = 'b'$$,
    'RF003', 'write is not fenced',
    'also where the row has no fence yet');
\if :by_row
SELECT lives_ok($$UPDATE stock SET left_over = 9 WHERE sku = 'none'$$,
    'where there is no such row, nothing is written');
\else
SELECT throws_ok($$UPDATE stock SET left_over = 9 WHERE sku = 'none'$$,
    'RF003', 'write is not fenced',
    'also where there is no such row: found in the first test, not later');
\endif
SELECT lives_ok($$UPDATE stock SET left_over = 9, fence = 6 WHERE sku = 'a'$$,
    'an UPDATE that names a greater fence passes');
SELECT lives_ok($$UPDATE stock SET left_over = 8, fence = 6 WHERE sku = 'a'$$,
    'and again with the same fence');
SELECT results_eq('SELECT sku, fence, left_over FROM stock ORDER BY sku',
    $$VALUES ('a', 6::bigint, 8), ('b', NULL, 10)$$,
    'only the fenced writes are in the table');

SELECT * FROM finish();
ROLLBACK;
