-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(16);

CREATE ROLE rf_app;
CREATE ROLE rf_reader;
CREATE TABLE stock (sku text PRIMARY KEY, fence bigint);
CREATE TABLE parts (sku text, fence bigint) PARTITION BY LIST (sku);
CREATE TABLE part PARTITION OF parts DEFAULT;
SELECT ringfence.protect('stock', 'fence');
SELECT ringfence.protect('parts', 'fence');
SELECT ringfence.grant_to('rf_app');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'nothing to mend');

-- Each hole is opened, found, mended by its remedy, and gone.
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RETURN NEW; END';
CREATE TRIGGER "~zz" BEFORE UPDATE ON stock
    FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT is(severity || ': ' || problem, 'notice: trigger "~zz" fires after ours '
        'and may change the fence: the seal refuses that',
    'a later trigger, where the seal stands') FROM ringfence.audit();
SELECT lives_ok(remedy, 'its remedy runs') FROM ringfence.audit();
CREATE TRIGGER "~zz" BEFORE UPDATE ON parts
    FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT is(severity || ': ' || problem, 'critical: trigger "~zz" fires after ours '
        'and may change the fence of a row that moves',
    'a later trigger, where rows move') FROM ringfence.audit();
SELECT lives_ok(remedy, 'its remedy runs') FROM ringfence.audit();

GRANT TRUNCATE ON stock TO PUBLIC;
SELECT is(remedy, 'REVOKE TRUNCATE ON public.stock FROM PUBLIC',
    'a right to TRUNCATE') FROM ringfence.audit();
SELECT lives_ok(remedy, 'its remedy runs') FROM ringfence.audit();

ALTER TABLE stock OWNER TO rf_app;
SELECT is(problem, 'rf_app owns the table and uses the guard: it can switch '
        'off what it is judged by',
    'an application that owns its table') FROM ringfence.audit();
SELECT lives_ok(remedy, 'its remedy runs') FROM ringfence.audit();

CREATE TABLE forgotten (id int, fence bigint);
SELECT is(problem || '; ' || remedy, 'has a column fence like the fence columns '
        'of protected tables, and is not protected; '
        'SELECT ringfence.protect(''public.forgotten'', ''fence'')',
    'a table with a fence column and no protection') FROM ringfence.audit();
SELECT lives_ok(remedy, 'its remedy runs') FROM ringfence.audit();

SELECT ringfence.protect('forgotten', 'fence', 'r:{id}');
SELECT ringfence.guard('r:1', 9, 'h');
INSERT INTO forgotten VALUES (1, 9);
UPDATE ringfence.registry SET fence = 3;
SELECT is(problem,
    'resource ''r:1'' has fence 3 in the registry, and 9 in the table',
    'a registry row that went backwards') FROM ringfence.audit();
SELECT lives_ok(remedy, 'its remedy runs') FROM ringfence.audit();
SELECT is(ringfence.high_water('r:1'), 9::bigint, 'and raises it');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'then all is mended');

GRANT USAGE ON SCHEMA ringfence TO rf_reader;
GRANT EXECUTE ON FUNCTION ringfence.audit() TO rf_reader;
SET ROLE rf_reader;
SELECT is_empty('SELECT * FROM ringfence.audit()',
    'a role that may run nothing else may be let run it');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
