-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
-- Before PostgreSQL 14 plain tables have a trigger on rows, as partitioned ones
-- have everywhere, and none on statements.
SELECT current_setting('server_version_num')::int < 140000 AS by_row \gset
SELECT plan(17);

CREATE TABLE stock (sku text, fence bigint, token bigint);
INSERT INTO stock VALUES ('a', 5, 5);
CREATE FUNCTION ours(what regclass) RETURNS bigint LANGUAGE sql AS
    $$SELECT count(*) FROM pg_trigger
      WHERE tgrelid = what AND tgname LIKE '~ringfence%'$$;

SELECT throws_ok($$SELECT ringfence.protect('stock')$$,
    'RF004', NULL, 'something to protect by must be given');
SELECT throws_ok($$SELECT ringfence.protect(NULL, 'fence')$$,
    'RF004', NULL, 'and a table');
SELECT throws_ok($$SELECT ringfence.unprotect(NULL)$$,
    'RF004', NULL, 'also to unprotect');
SELECT lives_ok($$SELECT ringfence.unprotect('stock')$$,
    'unprotect() of what is not protected does nothing');

SELECT ringfence.protect('stock', 'fence');
SELECT ringfence.protect('stock', 'fence');
SELECT is(ours('stock'), CASE WHEN :'by_row' THEN 3 ELSE 4 END::bigint,
    'twice is as good as once');
SELECT ringfence.protect('stock', 'token');
SELECT throws_ok('UPDATE stock SET token = 4', 'RF001', NULL,
    'another column takes the place of the first');
SELECT lives_ok('UPDATE stock SET token = 6, fence = 1',
    'which is free then');
SELECT ringfence.protect('stock', resource => 'r:{sku}');
SELECT throws_ok('UPDATE stock SET token = 7', 'RF003', NULL,
    'a resource takes the place of a column');
SELECT is(ours('stock'), 5::bigint, 'the column''s triggers are gone');
SELECT ringfence.protect('stock', 'token', 'r:{sku}');
SELECT is(ours('stock'), 5::bigint, 'both need no more');
SELECT ringfence.protect('stock', 'token');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'all is in place');

CREATE TABLE parts (sku text, fence bigint) PARTITION BY LIST (sku);
CREATE TABLE part PARTITION OF parts DEFAULT;
SELECT ringfence.protect('parts', 'fence');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'by column, on partitions');
SELECT ringfence.protect('parts', 'fence', 'r:{sku}');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'by both');
SELECT ringfence.protect('parts', resource => 'r:{sku}');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'by resource');
SELECT ringfence.protect('parts', 'fence');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'and back to the column');
SELECT is((SELECT count(*) FROM ringfence.protection
        WHERE root_name = 'parts'), 2::bigint,
    'root and partition are recorded');
SELECT ringfence.unprotect('parts');
SELECT is(ours('parts') + ours('part'), 0::bigint,
    'unprotect() leaves no trigger behind');

SELECT * FROM finish();
ROLLBACK;
