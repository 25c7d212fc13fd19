-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(9);

CREATE ROLE rf_nobody;
CREATE ROLE rf_app;
CREATE TABLE stock (sku text, fence bigint);
INSERT INTO stock VALUES ('a', 5);
GRANT ALL ON SCHEMA public TO rf_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON stock TO rf_nobody, rf_app;
SELECT ringfence.protect('stock', 'fence', 'stock:{sku}');
SELECT ringfence.grant_to('rf_app');

SELECT set_eq(
    $$SELECT p.oid::regprocedure::text FROM pg_proc p
      WHERE p.pronamespace = 'ringfence'::regnamespace
          AND has_function_privilege('rf_nobody', p.oid, 'EXECUTE')$$,
    $$SELECT format('ringfence.%s(%s%s)', name, types, rest) FROM (VALUES
            ('unclaimed', 'text'), ('unfenced', 'text,bigint'),
            ('outdated', 'text,bigint'),
            ('unfenced_update', 'text,bigint,bigint')) f (name, types),
        (VALUES (''), (',"any"')) r (rest)
      UNION ALL VALUES ('ringfence.lowered(bigint,bigint)'),
        ('ringfence.require_claim(text,oid)')$$,
    'no function is anybody''s, but what triggers and CHECKs call');
SELECT is_empty(
    $$SELECT c.oid::regclass FROM pg_class c
      WHERE c.relnamespace = 'ringfence'::regnamespace AND c.relkind <> 'i'
          AND (c.relkind = 'c' OR has_table_privilege('rf_nobody', c.oid,
              'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER'))
          AND c.relkind <> 'c'$$,
    'no table or view either');
SELECT ok(NOT has_schema_privilege('rf_nobody', 'ringfence', 'USAGE'),
    'nor the schema');

SET ROLE rf_nobody;
SELECT throws_ok($$SELECT ringfence.unclaimed('stock:a')$$, '42501', NULL,
    'which can''t be called by name');
SELECT throws_ok('UPDATE stock SET fence = 9', 'RF003', NULL,
    'whoever may write the table, but not use the guard, is refused');
SELECT throws_ok('DELETE FROM stock', 'RF003', NULL, 'DELETE, too');
RESET ROLE;

SET ROLE rf_app;
SELECT lives_ok($$SELECT ringfence.guard('stock:a', 6, 'h')$$,
    'with the grant one may claim');
SELECT lives_ok('UPDATE stock SET fence = 6',
    'and write, with no right to any trigger function');
SELECT throws_ok(
    $$CREATE TABLE own (fence bigint);
      CREATE TRIGGER t BEFORE UPDATE ON own FOR EACH STATEMENT
      EXECUTE FUNCTION ringfence.column_statement('fence')$$,
    '42501', NULL, 'our trigger functions are for protect() alone');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
