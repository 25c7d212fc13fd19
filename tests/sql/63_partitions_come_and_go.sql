-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 29
BEGIN;
SELECT plan(20);

CREATE TABLE stock (region text, sku text, fence bigint)
    PARTITION BY LIST (region);
CREATE TABLE eu PARTITION OF stock FOR VALUES IN ('eu');
SELECT ringfence.protect('stock', 'fence');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'nothing to mend');
SELECT throws_ok($$SELECT ringfence.protect('eu', 'fence')$$,
    'RF005', NULL, 'a partition is protected by its root');
SELECT throws_ok($$SELECT ringfence.unprotect('eu')$$,
    'RF005', NULL, 'and loses that with its root');
SELECT throws_ok($$DROP TRIGGER "~ringfence_seal" ON eu$$, '2BP01', NULL,
    'the server keeps a partition''s triggers');

-- A new one, and one that comes with its rows.
CREATE TABLE us PARTITION OF stock FOR VALUES IN ('us');
CREATE TABLE jp (region text, sku text, fence bigint);
INSERT INTO jp VALUES ('jp', 'j', 5);
ALTER TABLE stock ATTACH PARTITION jp FOR VALUES IN ('jp');
INSERT INTO stock VALUES ('eu', 'e', 5), ('us', 'u', 5);
SELECT throws_ok('UPDATE us SET sku = sku', 'RF003', NULL,
    'rows of a new partition are protected');
SELECT throws_ok('UPDATE jp SET fence = 4', 'RF001', NULL,
    'rows of an attached one as well');
SELECT throws_ok('DELETE FROM jp', 'RF003', NULL, 'also from DELETE');
SELECT set_eq(
    $$SELECT object, problem FROM ringfence.audit()
      WHERE severity = 'critical'$$,
    $$VALUES ('public.us', 'trigger "~ringfence_truncate" is missing'),
             ('public.jp', 'trigger "~ringfence_truncate" is missing')$$,
    'but TRUNCATE is open, which audit finds');
SELECT set_eq(
    $$SELECT object, problem FROM ringfence.audit() WHERE severity = 'notice'$$,
    $$VALUES
      ('public.us', 'a partition of a protected table that is not recorded'),
      ('public.jp', 'a partition of a protected table that is not recorded')$$,
    'as it finds that no record has them');
SELECT lives_ok(remedy, 'the remedy runs') FROM ringfence.audit() LIMIT 1;
SELECT is_empty('SELECT * FROM ringfence.audit()', 'and mends all of it');
SELECT throws_ok('TRUNCATE us', 'RF003', NULL, 'TRUNCATE is closed');

-- One that leaves.
ALTER TABLE stock DETACH PARTITION jp;
SELECT lives_ok('UPDATE jp SET sku = sku', 'a detached one is unprotected');
SELECT is(problem,
    'was a partition of a protected table, and is not any more',
    'audit finds it') FROM ringfence.audit();
SELECT lives_ok(remedy, 'the remedy runs') FROM ringfence.audit();
SELECT is_empty('SELECT * FROM ringfence.audit()', 'and mends it');
SELECT throws_ok('UPDATE jp SET sku = sku', 'RF003', NULL,
    'it is protected by itself');

-- One that is dropped.
DROP TABLE us;
SELECT is(problem, 'a partition that is not there any more',
    'a dropped one is told') FROM ringfence.audit();
SELECT lives_ok(remedy, 'the remedy runs') FROM ringfence.audit();
SELECT is_empty('SELECT * FROM ringfence.audit()', 'and mends it');

SELECT * FROM finish();
ROLLBACK;
