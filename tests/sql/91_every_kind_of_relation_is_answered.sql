-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Every function that takes a table, of everything that has a row in pg_class:
-- the kinds of relations below, and all that the server brings.
BEGIN;
SELECT plan(8);

CREATE TABLE plain (id int PRIMARY KEY, fence bigint, big text);
CREATE TABLE tree (id int, fence bigint) PARTITION BY LIST (id);
CREATE INDEX ON tree (id);
CREATE TABLE leaf PARTITION OF tree FOR VALUES IN (1);
CREATE TABLE branch PARTITION OF tree DEFAULT PARTITION BY LIST (id);
CREATE TABLE twig PARTITION OF branch DEFAULT;
CREATE TABLE mother (id int, fence bigint);
CREATE TABLE child () INHERITS (mother);
CREATE TYPE composite AS (id int, fence bigint);
CREATE TABLE typed OF composite;
CREATE VIEW view AS TABLE plain;
CREATE MATERIALIZED VIEW matview AS TABLE plain;
CREATE SEQUENCE sequence;
CREATE UNLOGGED TABLE unlogged (id int, fence bigint);
CREATE TEMP TABLE temporary (id int, fence bigint);
CREATE TABLE empty ();
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE FOREIGN TABLE foreign_table (id int, fence bigint) SERVER nowhere;
CREATE TABLE half_foreign (id int, fence bigint) PARTITION BY LIST (id);
CREATE FOREIGN TABLE foreign_leaf PARTITION OF half_foreign DEFAULT
    SERVER nowhere;

-- Of those that are shared between databases none is locked here.
CREATE TEMP TABLE relation AS
SELECT oid, oid::regclass::text AS name, relkind AS kind,
    relnamespace IN ('public'::regnamespace, pg_my_temp_schema()) AS mine
FROM pg_class WHERE NOT relisshared AND relname <> 'relation';

CREATE TEMP TABLE outcome (name text, kind "char", mine boolean, call text,
    state text, message text);
CREATE PROCEDURE make_calls() LANGUAGE plpgsql AS $$
DECLARE
    r record;
    call text;
BEGIN
    FOR r IN SELECT * FROM relation LOOP
        FOREACH call IN ARRAY ARRAY['protect(%s, ''fence'')',
            'protect(%s, resource => ''r:{id}'')',
            'protect(%s, ''fence'', ''r'')', 'unprotect(%s)',
            'row_fences(%s, ''fence'', ''r:{id}'')',
            'protect_call(%s)', 'check_is_right(%s, ''r'')',
            'require_claim(''r'', %s)'] LOOP
            BEGIN
                EXECUTE 'SELECT count(*) FROM ringfence.'
                    || format(call, r.oid);
                RAISE SQLSTATE 'UNDO0';
            EXCEPTION WHEN OTHERS THEN
                INSERT INTO outcome VALUES (r.name, r.kind, r.mine, call,
                    SQLSTATE, SQLERRM);
            END;
        END LOOP;
    END LOOP;
END$$;
SET LOCAL client_min_messages = error;
CALL make_calls();
RESET client_min_messages;

SELECT set_eq($$SELECT DISTINCT split_part(call, '(', 1) FROM outcome$$,
    $$SELECT DISTINCT p.proname::text
      FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass
          AND d.objid = p.oid AND d.deptype = 'e'
      JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass
          AND e.oid = d.refobjid AND e.extname = 'ringfence',
      unnest(p.proargtypes) t
      WHERE t IN ('oid'::regtype, 'regclass'::regtype)$$,
    'no function that takes a table has been left out');
SELECT set_eq('SELECT DISTINCT kind::text FROM outcome',
    $$VALUES ('r'), ('i'), ('S'), ('t'), ('v'), ('m'), ('c'), ('f'), ('p'),
        ('I')$$,
    'every kind of relation is there');
SELECT is_empty($$SELECT name, kind, call, state, message FROM outcome
    WHERE state NOT IN ('UNDO0', 'RF004', 'RF005')$$,
    'each call passes, or is an error of our own');
SELECT set_eq($$SELECT DISTINCT name FROM outcome
    WHERE call LIKE 'protect(%' AND state = 'UNDO0'$$,
    $$VALUES ('plain'), ('tree'), ('typed')$$,
    'protected are permanent tables, whole trees of them');
SELECT is_empty($$SELECT name, call, state, message FROM outcome
    WHERE call LIKE 'protect(%' AND state = 'RF004' AND name <> 'empty'$$,
    'all else is told that it is the wrong kind of table');
SELECT set_eq($$SELECT DISTINCT kind::text FROM outcome
    WHERE call LIKE 'unprotect%' AND state = 'UNDO0'$$,
    $$VALUES ('r'), ('p')$$, 'nothing else can be unprotected');
SELECT is_empty($$SELECT name, state, message FROM outcome
    WHERE call LIKE 'row_fences%' AND state <> 'UNDO0'$$,
    'what has no rows with fences has none');
SELECT is_empty('SELECT * FROM ringfence.protection',
    'and no call that failed has left a trace');

SELECT * FROM finish();
ROLLBACK;
