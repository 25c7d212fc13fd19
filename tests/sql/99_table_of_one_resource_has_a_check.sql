-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Where the template has no columns, a CHECK judges what INSERT and UPDATE
-- leave behind. Before PostgreSQL 14 triggers do, as on partitioned tables.
BEGIN;
SELECT current_setting('server_version_num')::int < 140000 AS by_row \gset
SELECT plan(36);

CREATE TABLE price (sku text PRIMARY KEY, n int);
INSERT INTO price VALUES ('old', 1);
CREATE TABLE parts (sku text, n int) PARTITION BY LIST (sku);
CREATE TABLE part PARTITION OF parts DEFAULT;
CREATE TABLE fenced (sku text, fence bigint);
SELECT ringfence.protect('price', resource => 'import: {{price}}');
SELECT ringfence.protect('parts', resource => 'import: {{price}}');
SELECT ringfence.protect('fenced', 'fence', 'import: {{price}}');

CREATE FUNCTION parts_of("table" regclass) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT tgname::text FROM pg_trigger WHERE tgrelid = "table"
    UNION ALL
    SELECT conname::text FROM pg_constraint
    WHERE conrelid = "table" AND contype = 'c'$$;
\if :by_row
SELECT bag_eq($$SELECT parts_of('price')$$, $$SELECT parts_of('fenced')$$,
    'triggers on rows, as everywhere');
\else
SELECT bag_eq($$SELECT parts_of('price')$$,
    $$VALUES ('~ringfence_claim'), ('~ringfence_delete'),
        ('~ringfence_resource'), ('~ringfence_truncate')$$,
    'a CHECK, and no trigger for new rows');
\endif
SELECT bag_eq($$SELECT DISTINCT parts_of(t) FROM unnest(
        ARRAY['parts', 'part', 'fenced']::regclass[]) t$$,
    $$VALUES ('~ringfence_insert'), ('~ringfence_update'),
        ('~ringfence_delete'), ('~ringfence_resource'),
        ('~ringfence_truncate')$$,
    'partitions, and rows that bear a fence, have triggers alone');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'nothing is to mend');
SELECT bag_eq('SELECT "table", triggers FROM ringfence.protected',
    $$VALUES ('public.price', 'in place'), ('public.parts', 'in place'),
        ('public.fenced', 'in place')$$, 'all is in place');

-- ---- Without the claim ----------------------------------------------------

PREPARE unclaimed AS INSERT INTO price VALUES ('a', 1);
SELECT throws_ok('unclaimed', 'RF003', 'write is not fenced',
    'INSERT without the claim is refused');
CREATE FUNCTION detail(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    "table" text;
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'passed';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail := PG_EXCEPTION_DETAIL,
        "table" := TABLE_NAME, hint := PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', "table", detail, hint);
END $$;
SELECT is(detail($$INSERT INTO price VALUES ('a', 1)$$),
    'price | A row of table "public.price" belongs to resource'
    ' "import: {price}", which this transaction has not claimed. | Call'
    ' ringfence.guard(resource, fence, holder) first, in the same transaction.',
    'which says what to do');
SELECT throws_ok('UPDATE price SET n = 2', 'RF003', NULL, 'UPDATE as well');
SELECT lives_ok($$UPDATE price SET n = 2 WHERE sku = 'none'$$,
    'but not one of no row');
SELECT throws_ok('DELETE FROM price', 'RF003', NULL, 'DELETE');
SELECT throws_ok('TRUNCATE price', 'RF003', NULL, 'TRUNCATE');
SELECT throws_ok($$INSERT INTO price VALUES ('new', 1)
    ON CONFLICT (sku) DO UPDATE SET n = 2$$, 'RF003', NULL, 'an upsert of a new row');
SELECT throws_ok($$INSERT INTO price VALUES ('old', 1)
    ON CONFLICT (sku) DO UPDATE SET n = 2$$, 'RF003', NULL, 'of one that is there');
\if :by_row
SELECT lives_ok($$INSERT INTO price VALUES ('old', 1) ON CONFLICT DO NOTHING$$,
    'triggers see what is written, and nothing is');
\else
SELECT throws_ok($$INSERT INTO price VALUES ('old', 1) ON CONFLICT DO NOTHING$$,
    'RF003', NULL, 'a CHECK sees what would be written');
\endif
SELECT throws_ok($$INSERT INTO price VALUES ('a', (
        SELECT count(ringfence.guard('import: price', 3, 'h'))))$$,
    'RF003', NULL, 'the claim of another resource is none');
\if :by_row
SELECT pass('triggers judge at the end of the statement');
\else
SELECT throws_ok($$INSERT INTO price SELECT i::text, CASE WHEN i = 2
        THEN ringfence.try_guard('import: {price}', 3, 'h')::int END
    FROM generate_series(1, 2) i ORDER BY i$$, 'RF003', NULL,
    'a claim that comes after the first row is too late');
\endif

SET LOCAL session_replication_role = replica;
SELECT lives_ok($$INSERT INTO price VALUES ('replicated', 1)$$,
    'a replica''s changes were judged where they come from');
SELECT lives_ok('UPDATE price SET n = 1', 'all of them');
SET LOCAL session_replication_role = origin;
SELECT throws_ok('unclaimed', 'RF003', NULL, 'nobody else''s');

-- ---- With it, and after it ------------------------------------------------

-- What becomes of the statements under a claim that ends with them.
CREATE FUNCTION claimed(VARIADIC statements text[]) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    statement text;
BEGIN
    PERFORM ringfence.guard('import: {price}', 4, 'h');
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
    RAISE SQLSTATE 'UNDO0';
EXCEPTION WHEN OTHERS THEN
    RETURN CASE SQLSTATE WHEN 'UNDO0' THEN 'passed' ELSE SQLSTATE END;
END $$;

SELECT is(claimed('EXECUTE unclaimed'), 'passed', 'with the claim INSERT passes');
SELECT is(claimed('UPDATE price SET n = n + 1'), 'passed', 'UPDATE');
SELECT is(claimed($$INSERT INTO price VALUES ('old', 1), ('b', 1)
    ON CONFLICT (sku) DO UPDATE SET n = 2$$), 'passed', 'an upsert');
SELECT is(claimed('DELETE FROM price'), 'passed', 'DELETE');
SELECT is(claimed('TRUNCATE price'), 'passed', 'TRUNCATE');
SELECT lives_ok(
    'ALTER TABLE price ADD made timestamptz DEFAULT clock_timestamp()',
    'a table that is rewritten is not asked');

-- Nobody keeps for later what was true for one statement: neither a plan that
-- is kept for whoever comes, nor what a session knows of a type.
PREPARE asked AS
    SELECT ringfence.require_claim('import: {{price}}', tableoid) FROM price;
CREATE DOMAIN checked AS int CHECK (ringfence.require_claim(
    'import: {{price}}', 'price'::regclass::oid));
SELECT is(claimed('EXECUTE unclaimed', 'EXECUTE asked', 'SELECT 1::checked'),
    'passed', format('claimed for the %s. time', i))
FROM generate_series(1, 7) i;
SELECT throws_ok('unclaimed', 'RF003', NULL,
    'what was prepared is refused again without the claim');
SELECT throws_ok('asked', 'RF003', NULL, 'also what is no CHECK');
SELECT throws_ok('SELECT 1::checked', 'RF003', NULL, 'or none of a table');

SELECT throws_ok($$SELECT ringfence.require_claim('a{b}', 'price'::regclass)$$,
    'RF004', 'argument is invalid', 'columns have no values there');
SELECT throws_ok($$SELECT ringfence.require_claim('a', 0)$$,
    'RF004', 'argument is invalid', 'a table that is not there is none');

SELECT * FROM finish();
ROLLBACK;
