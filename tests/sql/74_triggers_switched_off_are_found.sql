-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 38
BEGIN;
-- Before PostgreSQL 14 plain tables have a trigger on rows, as partitioned ones
-- have everywhere, and none on statements.
SELECT current_setting('server_version_num')::int < 140000 AS by_row \gset
\if :by_row
SELECT plan(15);
\else
SELECT plan(17);
\endif

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint);
INSERT INTO stock VALUES ('a', 5);
CREATE TABLE parts (sku text, fence bigint) PARTITION BY LIST (sku);
CREATE TABLE part PARTITION OF parts DEFAULT;
SELECT ringfence.protect('stock', 'fence');
SELECT ringfence.protect('parts', 'fence');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'nothing to mend');

ALTER TABLE stock DISABLE TRIGGER "~ringfence_seal";
SELECT throws_ok('UPDATE stock SET fence = 4', 'RF005', NULL,
    'without the seal nothing is updated');
SELECT is(problem, 'trigger "~ringfence_seal" is switched off',
    'audit finds it') FROM ringfence.audit();
SELECT is(triggers, 'broken', 'the list of protected tables shows it')
FROM ringfence.protected WHERE "table" = 'public.stock';
SELECT lives_ok(remedy, 'the remedy runs') FROM ringfence.audit();
SELECT throws_ok('UPDATE stock SET fence = 4', 'RF001', NULL, 'and mends it');

ALTER TABLE stock DISABLE TRIGGER USER;
SELECT is((SELECT count(*) FROM ringfence.audit()
        WHERE object = 'public.stock' AND severity = 'critical'),
    CASE WHEN :'by_row' THEN 3 ELSE 5 END::bigint,
    'all of them switched off are found');
SELECT lives_ok(remedy, 'each remedy runs') FROM ringfence.audit();
SELECT is_empty('SELECT * FROM ringfence.audit()', 'and all is mended');

CREATE TABLE line (sku text);
SELECT ringfence.protect('line', resource => 'line:{sku}');
SELECT ringfence.guard('line:a', 1, 'h');
ALTER TABLE line DISABLE TRIGGER "~ringfence_insert";
SELECT throws_ok($$INSERT INTO line VALUES ('a')$$, 'RF005', NULL,
    'with a resource, nothing is written once its rows are not judged');
SELECT ringfence.protect('line', resource => 'line:{sku}');
SELECT lives_ok($$INSERT INTO line VALUES ('a')$$,
    'protect() again switches it on');

ALTER TABLE part DISABLE TRIGGER "~ringfence_column";
SELECT is(object, 'public.part', 'one partition alone is found')
FROM ringfence.audit();
SELECT lives_ok(remedy, 'its remedy runs') FROM ringfence.audit();

SELECT * FROM finish();
ROLLBACK;
