-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 45
-- What protects hypertables, on a server without TimescaleDB: an event trigger
-- clones triggers on rows to one child.
BEGIN;
SELECT plan(13);

CREATE TABLE mother (sku text PRIMARY KEY, fence bigint, n int);
CREATE TABLE child (PRIMARY KEY (sku)) INHERITS (mother);
INSERT INTO child VALUES ('a', 5, 0);
CREATE FUNCTION clone() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
    made text;
BEGIN
    FOR made IN SELECT pg_get_triggerdef(t.oid)
        FROM pg_event_trigger_ddl_commands() c
        JOIN pg_trigger t ON t.oid = c.objid
        WHERE t.tgrelid = 'public.mother'::regclass AND t.tgtype & 1 = 1 -- ROW
    LOOP
        EXECUTE replace(made, ' ON public.mother ', ' ON public.child ');
    END LOOP;
END $$;
CREATE EVENT TRIGGER clone ON ddl_command_end WHEN TAG IN ('CREATE TRIGGER')
    EXECUTE FUNCTION clone();

SELECT lives_ok($$SELECT ringfence.protect('mother', 'fence')$$,
    'a table whose child gets all triggers is protected');
SELECT throws_ok('UPDATE mother SET n = 1', 'RF003', NULL,
    'it is judged by way of the parent');
SELECT throws_ok('UPDATE child SET n = 1', 'RF003', NULL, 'and by itself');
SELECT throws_ok('UPDATE child SET fence = 4', 'RF001', NULL, 'in its order');
SELECT lives_ok('UPDATE mother SET fence = 6', 'a newer fence passes');
SELECT throws_ok('TRUNCATE child', 'RF003', NULL, 'TRUNCATE does not');
SELECT is_empty(
    $$SELECT * FROM ringfence.audit() WHERE severity = 'critical'$$,
    'there is no hole');
SELECT throws_ok($$SELECT ringfence.unprotect('child')$$, 'RF005', NULL,
    'the child is protected as long as its parent');

SELECT ringfence.protect('mother', 'fence', mode => 'observe');
SELECT lives_ok('UPDATE child SET n = 1', 'the child is observed with it');
SELECT ringfence.protect('mother', 'fence');

DROP TRIGGER "~ringfence_column" ON child;
SELECT results_eq(
    $$SELECT object, problem FROM ringfence.audit()
        WHERE severity = 'critical'$$,
    $$VALUES ('public.child', 'trigger "~ringfence_column" is missing')$$,
    'one that it loses is found');
SELECT lives_ok(remedy, 'its remedy runs')
FROM ringfence.audit() WHERE severity = 'critical';
SELECT is_empty(
    $$SELECT * FROM ringfence.audit() WHERE severity = 'critical'$$,
    'and mends it');
DROP EVENT TRIGGER clone;
DROP TRIGGER "~ringfence_seal" ON child;
SELECT throws_ok($$SELECT ringfence.protect('mother', 'fence')$$, 'RF005', NULL,
    'once nobody clones them any more, protect() says so');

SELECT * FROM finish();
ROLLBACK;
