-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 16
BEGIN;
SELECT plan(10);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint);
CREATE TABLE parts (sku text, fence bigint) PARTITION BY LIST (sku);
CREATE TABLE leaf PARTITION OF parts FOR VALUES IN ('a');
CREATE TABLE middle PARTITION OF parts FOR VALUES IN ('b')
    PARTITION BY LIST (fence);
CREATE TABLE deep PARTITION OF middle DEFAULT;
CREATE TABLE line (sku text REFERENCES stock);
SELECT ringfence.protect('stock', 'fence');
SELECT ringfence.protect('parts', 'fence');

SELECT throws_ok('TRUNCATE stock CASCADE', 'RF003', 'write is not fenced',
    'TRUNCATE is refused');
SELECT throws_ok('TRUNCATE parts', 'RF003', NULL, 'of a partitioned table');
SELECT throws_ok('TRUNCATE leaf', 'RF003', NULL, 'of one partition');
SELECT throws_ok('TRUNCATE middle', 'RF003', NULL,
    'of a partition that has partitions');
SELECT throws_ok('TRUNCATE deep', 'RF003', NULL, 'of the partitions of that');

SELECT ringfence.unprotect('stock');
SELECT ringfence.protect('line', resource => 'order:{sku}');
SELECT throws_ok('TRUNCATE stock CASCADE', 'RF003', NULL,
    'by CASCADE from a table that is not protected');
SELECT ringfence.protect('line', resource => 'all lines');
SELECT throws_ok('TRUNCATE line', 'RF003', NULL,
    'a table that is one resource needs its claim');
SELECT ringfence.guard('all lines', 3, 'h');
SELECT lives_ok('TRUNCATE line', 'and then can be truncated');
SELECT ringfence.protect('line', resource => '{sku} all');
SELECT ringfence.guard(' all', 3, 'h');
SELECT throws_ok('TRUNCATE line', 'RF003', NULL,
    'not so a table that has a resource for each row');
SELECT ringfence.protect('line', resource => 'all {{sku}}');
SELECT ringfence.guard('all {sku}', 3, 'h');
SELECT lives_ok('TRUNCATE line', 'doubled braces are text');

SELECT * FROM finish();
ROLLBACK;
