-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(21);

CREATE TABLE stock (region text, sku text, fence bigint, n int)
    PARTITION BY LIST (region);
CREATE TABLE eu PARTITION OF stock FOR VALUES IN ('eu');
CREATE TABLE us PARTITION OF stock FOR VALUES IN ('us');
CREATE TABLE jp PARTITION OF stock FOR VALUES IN ('jp');
INSERT INTO stock VALUES ('eu', 'a', 5, 0), ('us', 'b', 5, 0);
CREATE TABLE line (sku text, fence bigint);
INSERT INTO line VALUES ('x', 5), ('y', 5);
SELECT ringfence.protect('stock', 'fence', mode => 'observe');
SELECT ringfence.protect('line', 'fence', 'line:{sku}', 'observe');

-- What the statement adds to the count.
CREATE FUNCTION observed(statement text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    before bigint := observed FROM ringfence.stats();
BEGIN
    EXECUTE statement;
    RETURN observed - before FROM ringfence.stats();
END $$;

SELECT is(observed('UPDATE stock SET fence = 4'), 2::bigint,
    'rows of partitions, each once');
SELECT is(observed('UPDATE stock SET fence = 0'), 2::bigint,
    'also when the number is none');
SELECT is(observed('UPDATE stock SET fence = 5'), 0::bigint, 'right ones never');
SELECT is(observed($$UPDATE stock SET region = 'jp', fence = 4
    WHERE region = 'eu'$$), 1::bigint, 'a row that moves');
SELECT is(observed($$UPDATE stock SET region = 'eu', fence = NULL
    WHERE region = 'jp'$$), 1::bigint, 'also without a number');
SELECT is(observed($$UPDATE stock SET region = 'jp', fence = 6
    WHERE region = 'eu'$$), 0::bigint, 'and not a right one');
SELECT is(observed('UPDATE stock SET n = 1'), 1::bigint,
    'a statement that does not name the fence, however many partitions');
SELECT is(observed('UPDATE stock SET n = 1; UPDATE stock SET n = 2'), 2::bigint,
    'two statements are two');
SELECT is(observed('DELETE FROM stock'), 2::bigint, 'deleted rows');
SELECT is(observed('TRUNCATE stock'), 1::bigint, 'TRUNCATE, of all partitions');
SELECT is(observed('UPDATE line SET fence = 6'), 2::bigint,
    'a row without a claim, although old and new are wrong');
SELECT ringfence.guard('line:x', 4), ringfence.guard('line:y', 7);
SELECT is(observed('UPDATE line SET fence = 3'), 2::bigint,
    'one with an older or another fence');
ALTER TABLE line RENAME fence TO number;
SELECT is(observed('UPDATE line SET number = 7'), 1::bigint,
    'a statement that can''t be judged');

-- Of a table that is one resource, where a CHECK sees them.
CREATE TABLE price (sku text, n int);
INSERT INTO price VALUES ('x', 1), ('y', 1);
SELECT ringfence.protect('price', resource => 'import', mode => 'observe');
SELECT is(observed('UPDATE price SET n = 2'), 2::bigint, 'rows of one resource');
SELECT is(observed($$INSERT INTO price VALUES ('z', 1)$$), 1::bigint, 'new ones');
SELECT is(observed('DELETE FROM price WHERE n = 1'), 1::bigint, 'old ones');
SELECT is((SELECT array_agg(sku || n ORDER BY sku) FROM price),
    ARRAY['x2', 'y2'], 'and all were written');
SELECT ringfence.guard('import', 1);
SELECT is(observed('UPDATE price SET n = 3'), 0::bigint, 'right ones never');

-- Refused, it is once by nature; who refuses has not changed what is.
ALTER TABLE line RENAME number TO fence;
SELECT ringfence.protect('stock', 'fence');
INSERT INTO stock VALUES ('eu', 'a', 5, 0);
SELECT throws_ok($$UPDATE stock SET region = 'jp', fence = 4$$, 'RF001', NULL,
    'a stale move is refused');
ALTER TABLE eu DISABLE TRIGGER "~ringfence_seal";
SELECT throws_ok('UPDATE stock SET fence = 4', 'RF005', NULL,
    'and everything, where nobody would judge the rows that stay');
ALTER TABLE eu ENABLE ALWAYS TRIGGER "~ringfence_seal";
SELECT lives_ok($$UPDATE stock SET region = 'jp', fence = 5$$,
    'a right one moves');

SELECT * FROM finish();
ROLLBACK;
