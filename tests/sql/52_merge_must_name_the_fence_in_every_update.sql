-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 14
BEGIN;
SELECT current_setting('server_version_num')::int < 150000 AS no_merge \gset
\if :no_merge
SELECT plan(1);
SELECT throws_ok('MERGE INTO t USING s ON true WHEN MATCHED THEN DELETE',
    '42601', NULL, 'before PostgreSQL 15 there is no MERGE');
SELECT * FROM finish();
ROLLBACK;
\q
\endif
SELECT plan(10);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10), ('b', 5, 10);
CREATE TABLE parts (sku text, fence bigint, left_over int)
    PARTITION BY LIST (sku);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
CREATE TABLE parts_b (left_over int, gone int, sku text, fence bigint);
ALTER TABLE parts_b DROP COLUMN gone;
ALTER TABLE parts ATTACH PARTITION parts_b FOR VALUES IN ('b');
INSERT INTO parts TABLE stock;
SELECT ringfence.protect('stock', 'fence');
SELECT ringfence.protect('parts', 'fence');

CREATE FUNCTION merge_sql(target text, fences text) RETURNS text
LANGUAGE sql AS $$
    SELECT format('MERGE INTO %s t USING (VALUES (''a''), (''b'')) v(sku)'
        ' ON v.sku = t.sku'
        ' WHEN MATCHED AND t.sku = ''a'' THEN UPDATE SET left_over = 1, fence = 6'
        ' WHEN MATCHED THEN UPDATE SET left_over = 1%s', target, fences)
$$;

SELECT throws_ok(merge_sql('stock', ''), 'RF003', 'write is not fenced',
    'one action that names the fence does not speak for another');
SELECT throws_ok('EXPLAIN ANALYZE ' || merge_sql('stock', ''),
    'RF003', 'write is not fenced', 'nor under EXPLAIN ANALYZE');
SELECT throws_ok(
    format('DO $do$BEGIN %s; END$do$', merge_sql('stock', '')),
    'RF003', 'write is not fenced', 'nor inside a function');
SELECT throws_ok(merge_sql('parts', ''), 'RF003', 'write is not fenced',
    'nor on partitions with columns in another order');
SELECT throws_ok(merge_sql('stock', ', fence = 4'), 'RF001', 'fence is stale',
    'a lower fence is refused');
SELECT throws_ok(merge_sql('parts', ', fence = 4'), 'RF001', 'fence is stale',
    'on partitions, too');
SELECT lives_ok(merge_sql('stock', ', fence = 6'),
    'when all actions name it, it passes');
SELECT lives_ok(merge_sql('parts', ', fence = 6'), 'on partitions, too');
SELECT throws_ok(
    $$MERGE INTO stock t USING (VALUES ('a')) v(sku) ON v.sku = t.sku
      WHEN MATCHED THEN DELETE$$,
    'RF003', 'write is not fenced', 'DELETE by MERGE carries no fence');
SELECT results_eq('TABLE stock ORDER BY sku',
    $$VALUES ('a', 6::bigint, 1), ('b', 6, 1)$$,
    'only the fenced writes are in the table');

SELECT * FROM finish();
ROLLBACK;
