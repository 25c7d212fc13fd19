-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 35
BEGIN;
SELECT plan(7);

SELECT is_empty(
    $$SELECT proname FROM pg_proc
      WHERE pronamespace = 'ringfence'::regnamespace
          AND (proparallel <> 'u' OR provolatile <> 'v')
          AND prolang = (SELECT oid FROM pg_language WHERE lanname = 'c')$$,
    'no C function runs in a parallel worker, or is called less than asked');

-- Triggers that somebody makes by hand, for events that they are not for.
CREATE TABLE stock (sku text PRIMARY KEY, fence bigint);
INSERT INTO stock VALUES ('a', 5);
CREATE FUNCTION with_trigger(definition text, statement text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER t %s', definition);
    EXECUTE statement;
    RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
SELECT is(with_trigger(format(
        '%s ON stock FOR EACH %s EXECUTE FUNCTION ringfence.%s(''fence'')',
        event, level, function), statement), '39P01', function || ' ' || event)
FROM (VALUES
    ('AFTER INSERT', 'ROW', 'column_seal', $$INSERT INTO stock VALUES ('b')$$),
    ('AFTER DELETE', 'ROW', 'column_seal', 'DELETE FROM stock'),
    ('AFTER DELETE', 'ROW', 'column_key', 'DELETE FROM stock'),
    ('BEFORE INSERT', 'ROW', 'column_row', $$INSERT INTO stock VALUES ('b')$$),
    ('AFTER UPDATE', 'ROW', 'column_row', 'UPDATE stock SET fence = 6'),
    ('BEFORE UPDATE', 'ROW', 'column_statement', 'UPDATE stock SET fence = 6')
) AS v (event, level, function, statement);

SELECT * FROM finish();
ROLLBACK;
