-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Every trigger function of ours, from the catalog, put on a table by somebody
-- else: at every time, for every event, with arguments that are none. Then it
-- refuses, or what it says is no error of the server's insides.
BEGIN;
SELECT plan(10);

CREATE TABLE plain (id int PRIMARY KEY, fence bigint, note text);
INSERT INTO plain VALUES (1, 5, 'x'), (2, NULL, 'y');
CREATE TABLE tree (id int PRIMARY KEY, fence bigint, note text)
    PARTITION BY LIST (id);
CREATE TABLE leaf PARTITION OF tree FOR VALUES IN (1);
CREATE TABLE other PARTITION OF tree DEFAULT;
INSERT INTO tree TABLE plain;
CREATE VIEW view AS TABLE plain;

CREATE TEMP TABLE attempt AS
SELECT row_number() OVER () AS n, f.proname AS function, v.kind, v.time, v.level,
    a.args, v.target
FROM pg_proc f, (VALUES
    ('TRIGGER', 'BEFORE INSERT OR UPDATE OR DELETE', 'ROW', 'plain'),
    ('TRIGGER', 'AFTER INSERT OR UPDATE OR DELETE', 'ROW', 'plain'),
    ('TRIGGER', 'AFTER UPDATE OF note', 'ROW', 'plain'),
    ('TRIGGER', 'BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE', 'STATEMENT',
        'plain'),
    ('TRIGGER', 'AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE', 'STATEMENT',
        'plain'),
    ('CONSTRAINT TRIGGER', 'AFTER INSERT OR UPDATE OR DELETE', 'ROW', 'plain'),
    ('TRIGGER', 'BEFORE UPDATE OR DELETE', 'ROW', 'tree'),
    ('TRIGGER', 'AFTER INSERT OR UPDATE OR DELETE', 'ROW', 'tree'),
    ('TRIGGER', 'BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE', 'STATEMENT',
        'tree'),
    ('TRIGGER', 'INSTEAD OF INSERT OR UPDATE OR DELETE', 'ROW', 'view')
    ) v(kind, time, level, target), (VALUES
    (''), ('NULL'), ('fence'), ('missing'), ('ctid'), ('fence, id'), ('fence, missing'),
    ($$'r:{id}'$$), ($$'r:{id}', fence$$), ($$'r:{missing}', missing$$),
    ($$'{', '}'$$), ($$'', ''$$), ($$'', fence, '', fence, id, note$$),
    (quote_literal(repeat('x', 10000)))) a(args)
WHERE f.pronamespace = 'ringfence'::regnamespace
    AND f.prorettype = 'trigger'::regtype;

CREATE TEMP TABLE outcome (n bigint, dml text, state text, message text);
CREATE PROCEDURE try_all() LANGUAGE plpgsql AS $$
DECLARE
    a record;
    dml text;
BEGIN
    FOR a IN SELECT * FROM attempt LOOP
        FOREACH dml IN ARRAY ARRAY['INSERT INTO %s VALUES (3, 7, ''z'')',
            'UPDATE %s SET note = ''n''', 'UPDATE %s SET fence = 9, note = id',
            'UPDATE %s SET id = 7 WHERE id = 1', 'UPDATE %s SET fence = NULL',
            'INSERT INTO %s VALUES (1, 3) ON CONFLICT (id) DO UPDATE SET fence = 3',
            'DELETE FROM %s', 'TRUNCATE %s'] LOOP
            CONTINUE WHEN a.target = 'view' AND dml ~ 'TRUNCATE|CONFLICT';
            BEGIN
                EXECUTE format('CREATE %s t %s ON %s FOR EACH %s '
                    'EXECUTE FUNCTION ringfence.%I(%s)', a.kind, a.time,
                    a.target, a.level, a.function, a.args);
                EXECUTE format(dml, a.target);
                RAISE SQLSTATE 'UNDO0';
            EXCEPTION WHEN OTHERS THEN
                INSERT INTO outcome VALUES (a.n, dml, SQLSTATE, SQLERRM);
            END;
        END LOOP;
    END LOOP;
END$$;
SET LOCAL client_min_messages = error;
CALL try_all();
RESET client_min_messages;
CREATE TEMP VIEW told AS SELECT * FROM outcome JOIN attempt USING (n);

SELECT cmp_ok((SELECT count(DISTINCT function) FROM told), '>=', 7::bigint,
    'the trigger functions are found');
SELECT is_empty($$SELECT function, time, level, target, dml, state, message,
        min(args), count(*)
    FROM told WHERE state LIKE 'XX%' GROUP BY 1, 2, 3, 4, 5, 6, 7$$,
    'none ends in an internal error');
SELECT is_empty($$SELECT function, time, level, target, dml, state, message,
        min(args), count(*)
    FROM told WHERE state NOT IN ('UNDO0', '39P01', '23505')
        AND state !~ '^RF00[1-6]$' GROUP BY 1, 2, 3, 4, 5, 6, 7$$,
    'each refuses with an error of ours, or as a trigger called wrongly');
SELECT is_empty($$SELECT function FROM told GROUP BY function
    HAVING count(*) FILTER (WHERE state = '39P01') = 0$$,
    'each knows when it is called wrongly');
SELECT is_empty($$SELECT function FROM told GROUP BY function
    HAVING count(*) FILTER (WHERE state LIKE 'RF%') = 0$$,
    'each refuses something');
SELECT results_eq('SELECT id, fence FROM plain ORDER BY id',
    $$VALUES (1, 5::bigint), (2, NULL)$$, 'and nothing of it was kept');

-- One that asks for every row, not only for those that its WHEN has found.
SELECT ringfence.guard('r:1', 6, 'h');
CREATE TRIGGER each_row AFTER INSERT OR UPDATE OR DELETE ON plain
    FOR EACH ROW EXECUTE FUNCTION ringfence.resource_row('r:{id}', 'fence');
SELECT throws_ok('UPDATE plain SET fence = 7 WHERE id = 1', 'RF003', NULL,
    'asked for every row, it refuses those that are wrong');
SELECT throws_ok('DELETE FROM plain WHERE id = 2', 'RF003', NULL,
    'whatever is done to them');
SELECT lives_ok('UPDATE plain SET fence = 6 WHERE id = 1',
    'and lets pass those that are right');
SELECT lives_ok('DELETE FROM plain WHERE id = 1', 'also their DELETE');

SELECT * FROM finish();
ROLLBACK;
