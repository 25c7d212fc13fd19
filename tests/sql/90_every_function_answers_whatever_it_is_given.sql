-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Every function there is, from the catalog, with every combination of NULLs,
-- extremes and nonsense of its arguments' types. A crash ends this file; any
-- error that is not one of the documented ones is counted. A new function is
-- called without being named here, and a new type of argument has to be added.
BEGIN;
SELECT plan(10);

CREATE TABLE plain (id int PRIMARY KEY, fence bigint);
CREATE TABLE guarded (id int PRIMARY KEY, fence bigint);
CREATE TABLE spare (id int PRIMARY KEY, fence bigint);
INSERT INTO guarded VALUES (1, 5), (2, NULL);
CREATE VIEW seen AS TABLE plain;
CREATE ROLE somebody;
DO $$BEGIN
    PERFORM ringfence.protect('guarded', 'fence', 'g:{id}');
    PERFORM ringfence.guard('r', 5, 'h');
    PERFORM ringfence.once('r', 'once');
END$$;
UPDATE ringfence.receipts SET applied_at = '2000-01-01';
-- Of a table and a role that have gone.
CREATE TABLE gone ();
SELECT 'gone'::regclass::oid AS gone \gset
DROP TABLE gone;

CREATE TABLE extreme (type regtype, value text);
INSERT INTO extreme
SELECT 'text'::regtype, v FROM unnest(ARRAY['NULL', $$''$$, $$'r'$$,
    $$repeat('x', 255)$$, $$repeat('x', 256)$$, $$repeat('{', 10000)$$,
    $$E'a\x01'$$, $$'g:{id}'$$, $$'{missing}'$$, $$'enforce'$$, $$'{{'$$]) v
UNION ALL
SELECT 'bigint', v FROM unnest(ARRAY['NULL', '0', '-1',
    '-9223372036854775808', '9223372036854775807', '9007199254740991',
    '9007199254740992', '5', '6']) v
UNION ALL
SELECT 'integer', v FROM unnest(ARRAY['NULL', '0', '-1', '1',
    '2147483647', '-2147483648']) v
UNION ALL
SELECT 'boolean', v FROM unnest(ARRAY['NULL', 'true', 'false']) v
UNION ALL
-- None so short that the transaction would really end.
SELECT 'interval', v FROM unnest(ARRAY['NULL', $$'0'$$, $$'-1 s'$$, $$'1 day'$$,
    $$'178000000 years'$$, $$'-178000000 years'$$,
    $$'1 mon -30 days -1 us'$$]) v
UNION ALL
SELECT 'interval', v FROM unnest(ARRAY[$$'infinity'$$, $$'-infinity'$$]) v
WHERE current_setting('server_version_num')::int >= 170000
UNION ALL
SELECT 'name', v FROM unnest(ARRAY['NULL', $$''$$, $$'fence'$$, $$'id'$$,
    $$'ctid'$$, $$'missing'$$, $$repeat('x', 63)$$]) v
UNION ALL
SELECT 'regclass', v FROM unnest(ARRAY['NULL', '0', '4294967295', :'gone',
    $$'plain'$$, $$'guarded'$$, $$'seen'$$, $$'plain_pkey'$$,
    $$'ringfence.registry'$$, $$'pg_class'$$]) v
UNION ALL
SELECT 'oid', value FROM (SELECT value || '::regclass' AS value
    FROM unnest(ARRAY['NULL', '0', '4294967295', $$'plain'$$, $$'guarded'$$,
        $$'seen'$$, $$'plain_pkey'$$, $$'pg_class'$$]) value) v
UNION ALL
SELECT 'regrole', v FROM unnest(ARRAY['NULL', '0', '4294967295', '10',
    $$'somebody'$$]) v
UNION ALL
SELECT 'ringfence.wanted_trigger', v FROM unnest(ARRAY['NULL',
    'SELECT w FROM ringfence.wanted_trigger w LIMIT 1',
    'SELECT w FROM ringfence.wanted_trigger w OFFSET 1 LIMIT 1',
    'ROW(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)',
    $$ROW(0, 4294967295, '', '', '{}', true, '', '', '{}', true)$$,
    $$ROW(1, 'guarded'::regclass, 'fence', repeat('{', 10000), '{id, NULL}',
        false, '~ringfence_update', '', '{}', true)$$,
    $$ROW(1, 'guarded'::regclass, 'id', NULL, '{{id, missing}, {ctid, NULL}}',
        false, '~ringfence_truncate', '', '{}', true)$$,
    $$ROW(1, 'guarded'::regclass, 'fence', 'g:{id}', NULL, NULL,
        '~ringfence_update', NULL, NULL, NULL)$$,
    $$ROW(1, 'guarded'::regclass, NULL, NULL, '{id}', true,
        '~ringfence_update', 'x', '{x}', true)$$,
    $$ROW(1, 'plain_pkey'::regclass, 'fence', NULL, '{id}', true,
        '~ringfence_key', 'x', '{x}', true)$$]) v
UNION ALL
SELECT '"any"', v FROM unnest(ARRAY['NULL', '1', $$'x'::text$$,
    $$repeat('x', 10000)$$, 'ROW(1, NULL)', 'ARRAY[1, NULL]',
    'ARRAY[]::int[]', 'ROW()', $$VARIADIC ARRAY['x']$$,
    'VARIADIC NULL::text[]', 'VARIADIC ARRAY[]::int[]',
    'VARIADIC ARRAY[[1, 2], [3, 4]]', '1, 2', '1, NULL, 3',
    $$'2026-01-01'::date, 1.5, true$$]) v;

CREATE TABLE target AS
SELECT p.oid, p.proname AS name, p.prorettype = 'trigger'::regtype AS is_trigger,
    string_to_array(nullif(p.proargtypes::text, ''), ' ')::oid[] AS types
FROM pg_proc p
JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
    AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
    AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ringfence')
-- That the server alone can call.
WHERE 'internal'::regtype <> ALL (p.proargtypes);

CREATE FUNCTION calls(name text, types oid[], is_trigger boolean)
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    lists text[] := ARRAY[''];
    t oid;
BEGIN
    FOREACH t IN ARRAY coalesce(types, '{}') LOOP
        SELECT array_agg(concat_ws(', ', nullif(l, ''), CASE
            WHEN t = '"any"'::regtype THEN e.value
            ELSE format('(%s)::%s', e.value, format_type(t, NULL)) END))
        INTO lists
        FROM unnest(lists) l, extreme e WHERE e.type = t;
    END LOOP;
    RETURN QUERY SELECT format(CASE WHEN is_trigger
            THEN 'SELECT ringfence.%I(%s)'
            ELSE 'SELECT count(*) FROM ringfence.%I(%s) x' END, name, l)
        FROM unnest(lists) l;
END$$;

CREATE TABLE call AS
SELECT row_number() OVER () AS n, t.name, t.is_trigger, c AS call
FROM target t, calls(t.name, t.types, t.is_trigger) c;

-- Each call is a statement of its own. What it did is undone, so that the next
-- one meets the same, or is kept, so that it meets something else.
CREATE TABLE outcome (n bigint, kept boolean, state text, message text);
CREATE PROCEDURE make_calls(keep boolean) LANGUAGE plpgsql AS $$
DECLARE
    i bigint;
    statement text;
    state text;
    message text;
BEGIN
    FOR i IN 1 .. (SELECT count(*) FROM call) LOOP
        statement := (SELECT c.call FROM call c WHERE n = i);
        message := NULL;
        BEGIN
            EXECUTE statement;
            state := '00000';
            IF NOT keep THEN
                RAISE SQLSTATE 'UNDO0';
            END IF;
        EXCEPTION WHEN OTHERS THEN
            IF SQLSTATE <> 'UNDO0' THEN
                state := SQLSTATE;
                message := SQLERRM;
            END IF;
        END;
        INSERT INTO outcome VALUES (i, keep, state, message);
    END LOOP;
END$$;
ALTER TABLE call ADD PRIMARY KEY (n);
ANALYZE call;

SET LOCAL client_min_messages = error;
CALL make_calls(false);
RESET client_min_messages;
CREATE VIEW told AS SELECT * FROM outcome JOIN call USING (n);

SELECT cmp_ok((SELECT count(*) FROM target), '>=', 30::bigint,
    'the functions are found');
SELECT is_empty($$SELECT t.name, u::regtype FROM target t, unnest(t.types) u
    WHERE NOT EXISTS (SELECT FROM extreme e WHERE e.type = u)$$,
    'there are extremes for every type of argument');
SELECT is_empty('SELECT name FROM target EXCEPT SELECT name FROM told',
    'every function has been called');
-- 40001: another test may commit between a statement's snapshot and its claim.
SELECT is_empty($$SELECT name, state, message, min(call), count(*) FROM told
    WHERE NOT is_trigger AND state !~ '^(00000|RF00[1-6]|40001)$'
    GROUP BY 1, 2, 3$$,
    'each call ends well or in an error of our own');
SELECT is_empty($$SELECT name, state, message FROM told
    WHERE is_trigger AND state <> '39P01'$$,
    'but triggers, which are nothing to be called');
SELECT is_empty($$SELECT DISTINCT name, state, message FROM told
    WHERE state LIKE 'RF%' AND message NOT IN ('fence is stale',
        'fence belongs to another holder', 'write is not fenced',
        'argument is invalid', 'protection is set up wrongly',
        'resource is not claimed by this transaction')$$,
    'with a message that can be relied on');
SELECT is_empty($$SELECT name FROM told GROUP BY name
    HAVING count(*) FILTER (WHERE state = '00000') = 0
        AND NOT bool_or(is_trigger)$$,
    'and each function has been given something that it takes');
SELECT is(count(*), 1::bigint, 'NULL is no age that receipts have reached')
    FROM ringfence.receipts;

-- Once more, with what each call did left in place. Claims are in the way of
-- some now, and tables protected that were not.
SET LOCAL client_min_messages = error;
CALL make_calls(true);
RESET client_min_messages;
SELECT is_empty($$SELECT name, state, message, min(call), count(*) FROM told
    WHERE kept AND NOT is_trigger AND state !~ '^(00000|RF00[1-6]|40001)$'
    GROUP BY 1, 2, 3$$,
    'nor does a call end otherwise after what others did');
SELECT is(ringfence.high_water('r'), 9007199254740991,
    'the newest claim is the greatest one that is allowed');

SELECT * FROM finish();
ROLLBACK;
