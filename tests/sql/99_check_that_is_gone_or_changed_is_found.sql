-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- The CHECK of a table that is one resource: dropped, replaced, renamed,
-- copied, validated, and taken away again.
BEGIN;
SELECT current_setting('server_version_num')::int < 140000 AS by_row,
    current_setting('server_version_num')::int >= 180000 AS can_be_off \gset
\if :by_row
-- Before PostgreSQL 14 there is none.
SELECT plan(1);
SELECT is_empty($$SELECT * FROM ringfence.wanted_check$$, 'no CHECK is wanted');
SELECT * FROM finish();
ROLLBACK;
\q
\endif
SELECT plan(41);

CREATE TABLE cash (n int);
SELECT ringfence.protect('cash', resource => 'it''s cash');
\ir mend.psql
CREATE FUNCTION found() RETURNS text LANGUAGE sql AS
    $$SELECT string_agg(concat_ws(' | ', severity, object, problem), E'\n')
      FROM ringfence.audit()$$;
CREATE FUNCTION state() RETURNS text LANGUAGE sql AS
    $$SELECT triggers FROM ringfence.protected WHERE "table" = 'public.cash'$$;
SELECT is(found(), NULL, 'nothing is to mend');

-- ---- Gone -----------------------------------------------------------------

ALTER TABLE cash DROP CONSTRAINT "~ringfence_claim";
SELECT throws_ok('INSERT INTO cash VALUES (1)', 'RF005',
    'protection is set up wrongly', 'without its CHECK nothing is inserted');
SELECT throws_ok('UPDATE cash SET n = 2', 'RF005', NULL, 'nor updated');
SELECT ringfence.guard('it''s cash', 1, 'h');
SELECT throws_ok('INSERT INTO cash VALUES (1)', 'RF005', NULL,
    'by a holder neither');
SELECT is(found(), 'critical | public.cash | constraint "~ringfence_claim" is'
    ' missing', 'audit finds it');
SELECT is(state(), 'broken', 'the list of protected tables shows it');
SELECT ok(mend(), 'the remedy mends it');
SELECT is(state(), 'in place', 'and that is to be seen');
SELECT lives_ok('INSERT INTO cash VALUES (1)', 'so the holder can write');

ALTER TABLE cash RENAME CONSTRAINT "~ringfence_claim" TO mine;
SELECT throws_ok('INSERT INTO cash VALUES (1)', 'RF005', NULL,
    'by another name it is gone');
SELECT ok(mend(), 'which is mended');
SELECT lives_ok('INSERT INTO cash VALUES (1)', 'two ask twice');
ALTER TABLE cash DROP CONSTRAINT mine;

-- ---- Changed --------------------------------------------------------------

CREATE FUNCTION remade(definition text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    ALTER TABLE cash DROP CONSTRAINT "~ringfence_claim";
    EXECUTE 'ALTER TABLE cash ADD CONSTRAINT "~ringfence_claim" ' || definition;
    RETURN found();
END $$;
SELECT 'critical | public.cash | constraint "~ringfence_claim" was made anew:'
    ' it checks something else, or nothing' AS anew \gset
SELECT is(remade('CHECK (true)'), :'anew', 'one that is always true');
SELECT ok(mend(), 'is mended');
SELECT is(remade('CHECK (n > 0)'), :'anew', 'one that asks something else');
SELECT ok(mend(), 'is mended');
SELECT is(remade($$CHECK (ringfence.require_claim('it''s cash', 0))$$), :'anew',
    'one that names no table');
SELECT ok(mend(), 'is mended');
SELECT is(remade($$CHECK (ringfence.require_claim('{n}', tableoid)) NOT VALID$$),
    :'anew', 'one for another resource');
SELECT ok(mend(), 'is mended');
SELECT is(remade($$CHECK (ringfence.require_claim('it''s cash', tableoid)
    OR n = 7) NOT VALID$$), :'anew', 'one with a way around it');
SELECT ok(mend(), 'is mended');
\if :can_be_off
SELECT is(remade($$CHECK (ringfence.require_claim('it''s cash', tableoid))
    NOT ENFORCED$$), :'anew', 'one that does not hold');
SELECT throws_ok('INSERT INTO cash VALUES (1)', 'RF005', NULL,
    'lets nothing be written');
SELECT ok(mend(), 'is mended');
\else
SELECT pass('a CHECK that is there holds') FROM generate_series(1, 3);
\endif
SELECT lives_ok('ALTER TABLE cash VALIDATE CONSTRAINT "~ringfence_claim"',
    'whoever has claimed can validate it');
SELECT is(found(), NULL, 'which changes nothing');

-- ---- The others gone, and it alone there ----------------------------------

CREATE FUNCTION unclaimed(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN 'passed';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
SELECT ringfence.protect('cash', resource => 'other cash');
SELECT is(unclaimed('INSERT INTO cash VALUES (1)'), 'RF003',
    'with another resource another claim is asked for');
DROP TRIGGER "~ringfence_resource" ON cash;
ALTER TABLE cash DISABLE TRIGGER "~ringfence_delete";
SELECT is(unclaimed('INSERT INTO cash VALUES (1)'), 'RF003',
    'without the other triggers it still refuses');
SELECT is(unclaimed('UPDATE cash SET n = 2'), 'RF003', 'an update as well');
ALTER TABLE cash DISABLE TRIGGER USER;
SELECT is(unclaimed('INSERT INTO cash VALUES (1)'), 'passed',
    'with all triggers switched off, as a restore does, nothing is judged');
SELECT is((SELECT count(*) FROM ringfence.audit() WHERE severity = 'critical'),
    3::bigint, 'which audit finds');
SELECT ok(mend(), 'and mends');
SELECT is(unclaimed('INSERT INTO cash VALUES (1)'), 'RF003', 'so it is again');

-- ---- Copies ---------------------------------------------------------------

CREATE TABLE staging (LIKE cash INCLUDING ALL);
SELECT is(unclaimed('INSERT INTO staging VALUES (1)'), 'passed',
    'what is made like a protected table is not protected');
SELECT is(found(), 'notice | public.staging | has constraint "~ringfence_claim",'
    ' copied from a protected table: it lets everything pass', 'audit tells');
SELECT ringfence.protect('staging', resource => 'row {n}');
SELECT is(found(), NULL, 'protected by itself it loses the copy');
SELECT is(unclaimed('INSERT INTO staging VALUES (1)'), 'RF003', 'and is judged');
CREATE TABLE another (LIKE cash INCLUDING ALL);
SELECT ok(mend(), 'the remedy takes the copy away');
SELECT lives_ok('DROP TABLE another', 'which nothing depends on');

-- ---- Taken away -----------------------------------------------------------

SELECT ringfence.unprotect('cash');
SELECT is((SELECT count(*) FROM pg_constraint WHERE conrelid = 'cash'::regclass),
    0::bigint, 'unprotect() takes it away');

SELECT * FROM finish();
ROLLBACK;
