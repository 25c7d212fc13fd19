-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 39
BEGIN;
SELECT current_setting('server_version_num')::int < 140000 AS no_replace \gset
\if :no_replace
-- Before PostgreSQL 14 there is no CREATE OR REPLACE TRIGGER.
SELECT plan(5);
CREATE ROLE rf_meddler;
CREATE TABLE stock (sku text PRIMARY KEY, fence bigint);
SELECT ringfence.protect('stock', 'fence');
GRANT ALL ON stock TO rf_meddler;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RETURN NEW; END';
SET ROLE rf_meddler;
SELECT throws_ok('DROP TRIGGER "~ringfence_column" ON stock', '42501', NULL,
    'the owner alone can drop a trigger, and so replace it');
RESET ROLE;
REVOKE ALL ON stock FROM rf_meddler;
DROP TRIGGER "~ringfence_column" ON stock;
CREATE TRIGGER "~ringfence_column" BEFORE UPDATE OR DELETE ON stock
    FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT is(problem, 'trigger "~ringfence_column" was replaced: it calls '
        'public.nothing(), not ringfence.column_row()',
    'audit finds it') FROM ringfence.audit() WHERE severity = 'critical';
SELECT lives_ok(remedy, 'the remedy runs')
FROM ringfence.audit() WHERE severity = 'critical';
SELECT is_empty('SELECT * FROM ringfence.audit()', 'and mends it');
INSERT INTO stock VALUES ('a', 5);
SELECT throws_ok('UPDATE stock SET sku = sku', 'RF003', NULL,
    'the fence must be named again');
SELECT * FROM finish();
ROLLBACK;
\q
\endif
SELECT plan(14);

CREATE ROLE rf_meddler;
CREATE TABLE stock (sku text PRIMARY KEY, fence bigint);
INSERT INTO stock VALUES ('a', 5);
SELECT ringfence.protect('stock', 'fence');
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RETURN NEW; END';
GRANT ALL ON stock TO rf_meddler;
SELECT set_eq('SELECT problem, remedy FROM ringfence.audit()',
    $$VALUES ('rf_meddler may replace triggers (TRIGGER)',
              'REVOKE TRIGGER ON public.stock FROM rf_meddler'),
             ('rf_meddler may TRUNCATE, once the trigger is switched off',
              'REVOKE TRUNCATE ON public.stock FROM rf_meddler')$$,
    'who may replace triggers is found before it happens');

SET ROLE rf_meddler;
CREATE OR REPLACE TRIGGER "~ringfence_column" BEFORE UPDATE ON stock
    FOR EACH STATEMENT EXECUTE FUNCTION nothing();
SELECT throws_ok(
    $$CREATE OR REPLACE TRIGGER "~ringfence_seal" AFTER UPDATE ON stock
      FOR EACH ROW EXECUTE FUNCTION nothing()$$,
    '42710', NULL, 'the seal can''t be replaced');
SELECT throws_ok($$UPDATE stock SET fence = 4$$, 'RF001', NULL,
    'so no fence goes back, whatever else was replaced');
RESET ROLE;
SELECT is(problem, 'trigger "~ringfence_column" was replaced: it calls '
        'public.nothing(), not ringfence.column_statement()',
    'the replaced one is found')
FROM ringfence.audit() WHERE severity = 'critical';
SELECT lives_ok(remedy, 'each remedy runs') FROM ringfence.audit();
SELECT is_empty('SELECT * FROM ringfence.audit()', 'and all is mended');
SELECT throws_ok('UPDATE stock SET sku = sku', 'RF003', NULL,
    'the fence must be named again');

SELECT ringfence.protect('stock', 'fence', 'stock:{sku}');
CREATE OR REPLACE TRIGGER "~ringfence_resource" BEFORE UPDATE ON stock
    FOR EACH STATEMENT EXECUTE FUNCTION nothing();
SELECT throws_ok(
    $$CREATE OR REPLACE TRIGGER "~ringfence_update" AFTER UPDATE ON stock
      FOR EACH ROW EXECUTE FUNCTION nothing()$$,
    '42710', NULL, 'the triggers that judge rows can''t be replaced');
SELECT throws_ok('UPDATE stock SET fence = 6', 'RF003', NULL,
    'so no row is written without its claim, whatever else was replaced');
SELECT ringfence.protect('stock', 'fence', 'stock:{sku}');
DROP TRIGGER "~ringfence_update" ON stock;
SELECT throws_ok('UPDATE stock SET fence = 5', 'RF005', NULL,
    'when one is dropped, nothing is updated');
SELECT results_eq(
    $$SELECT problem FROM ringfence.audit() WHERE severity = 'critical'
      AND problem LIKE 'trigger%'$$,
    $$VALUES ('trigger "~ringfence_update" is missing')$$,
    'and audit finds it');

SELECT * FROM finish();
ROLLBACK;
