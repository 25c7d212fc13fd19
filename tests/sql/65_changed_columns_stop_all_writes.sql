-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 31
BEGIN;
-- Before PostgreSQL 14 plain tables have a trigger on rows, as partitioned ones
-- have everywhere, and none on statements.
SELECT current_setting('server_version_num')::int < 140000 AS by_row \gset
SELECT plan(24);

CREATE TABLE stock (sku text, fence bigint, note text);
INSERT INTO stock VALUES ('a', 5);
CREATE TABLE line (sku text, amount int);
CREATE TABLE both_of (sku text, fence bigint);
SELECT ringfence.protect('stock', 'fence');
SELECT ringfence.protect('line', resource => 'stock:{sku}');
SELECT ringfence.protect('both_of', 'fence', 'stock:{sku}');
SELECT ringfence.guard('stock:a', 7, 'h');

SAVEPOINT s;
ALTER TABLE stock RENAME fence TO token;
SELECT throws_ok('UPDATE stock SET token = 6', 'RF005',
    'protection is set up wrongly', 'a renamed column stops UPDATE');
SELECT is(problem, 'column fence is not there: every write is refused',
    'audit says so') FROM ringfence.audit();
SELECT lives_ok(remedy, 'its remedy runs') FROM ringfence.audit();
SELECT lives_ok($$SELECT ringfence.protect('stock', 'token')$$,
    'and the table can be protected with the new name');
SELECT throws_ok('UPDATE stock SET token = 4', 'RF001', NULL,
    'which it then is');
ROLLBACK TO s;

SELECT throws_ok('ALTER TABLE stock DROP fence', '2BP01', NULL,
    'the column is not dropped by the way');
ALTER TABLE stock DROP fence CASCADE;
SELECT throws_ok('UPDATE stock SET note = 1', 'RF005', NULL,
    'a dropped column stops UPDATE');
ALTER TABLE stock ADD fence bigint;
SELECT throws_ok('UPDATE stock SET fence = 6', 'RF005', NULL,
    'a new one of that name does not open it: the seal is gone');
ROLLBACK TO s;

SELECT throws_ok('ALTER TABLE stock ALTER fence TYPE int USING 0',
    '0A000', NULL, 'the column''s type can''t be changed');
SELECT lives_ok('ALTER TABLE stock ALTER note TYPE int USING 0',
    'that of another column can');
SELECT throws_ok('UPDATE stock SET fence = 4', 'RF001', NULL,
    'after such a rewrite the table is protected');

SELECT throws_ok('ALTER TABLE both_of ALTER fence TYPE int', '0A000', NULL,
    'with a resource the type is fixed, too');
SELECT throws_ok('ALTER TABLE both_of DROP fence', '2BP01', NULL,
    'and the column not dropped by the way');
ALTER TABLE both_of DROP fence CASCADE;
SELECT throws_ok($$INSERT INTO both_of VALUES ('a')$$, 'RF005', NULL,
    'a dropped column stops every write');
ALTER TABLE both_of ADD fence bigint GENERATED ALWAYS AS (7) STORED;
SELECT throws_ok($$INSERT INTO both_of VALUES ('a')$$, 'RF005', NULL,
    'so does a generated one of that name');
ALTER TABLE both_of DROP fence, ADD fence bigint;
SELECT throws_ok($$INSERT INTO both_of VALUES ('a', 7)$$, 'RF005', NULL,
    'or a new one, which no trigger looks at');
ROLLBACK TO s;

ALTER TABLE line RENAME sku TO article;
SELECT throws_ok($$INSERT INTO line VALUES ('a', 1)$$, 'RF005', NULL,
    'a renamed column of the template stops every write');
SELECT is(problem, 'column sku is not there: every write is refused',
    'audit says so') FROM ringfence.audit();
ROLLBACK TO s;
SELECT throws_ok('ALTER TABLE line ALTER sku TYPE date USING NULL', '0A000',
    NULL, 'its type can''t be changed');
SELECT throws_ok('ALTER TABLE line DROP sku', '2BP01', NULL,
    'nor is it dropped by the way');
ALTER TABLE line DROP sku CASCADE;
SELECT throws_ok('DELETE FROM line', 'RF005', NULL,
    'a dropped one stops every write');

-- In partitions a key is found by its name.
CREATE TABLE parts (region text, sku text, fence bigint,
    PRIMARY KEY (region, sku)) PARTITION BY LIST (region);
CREATE TABLE part PARTITION OF parts DEFAULT;
INSERT INTO parts VALUES ('eu', 'a', 5);
SELECT ringfence.protect('parts', 'fence');
ALTER TABLE parts RENAME sku TO article;
SELECT throws_ok($$UPDATE parts SET article = 'b', fence = 6$$, 'RF005',
    'protection is set up wrongly',
    'a renamed column of a partition''s key stops UPDATE');
SELECT lives_ok($$SELECT ringfence.protect('parts', 'fence')$$,
    'until the table is protected again');
SELECT throws_ok($$UPDATE parts SET article = 'b', fence = 6$$, 'RF003', NULL,
    'and then the key is kept by its new name');

SELECT * FROM finish();
ROLLBACK;
