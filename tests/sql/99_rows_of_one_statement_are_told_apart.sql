-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- What was found for one row is used for the next one only if both are of one
-- resource, whatever its columns are.
BEGIN;
SELECT plan(19);

CREATE DOMAIN code AS text;
CREATE TABLE line (t text, n int, u uuid, c char(4), m numeric, d code, b bigint);
CREATE FUNCTION protect(template text) RETURNS void LANGUAGE sql AS
    $$SELECT ringfence.protect('line', resource => template)$$;
CREATE FUNCTION insert_rows(rows text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'INSERT INTO line ' || rows;
    RETURN 'passed';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;

SELECT protect('{t}/{n}');
SELECT ringfence.guard('a/1', 1), ringfence.guard('a/2', 1),
    ringfence.guard('ab/1', 1), ringfence.guard(repeat('x', 200) || '/1', 1);
SELECT is(insert_rows($$(t, n) VALUES ('a', 1), ('a', 1), ('a', 2), ('ab', 1),
    (repeat('x', 200), 1), ('a', 2), (repeat('x', 200), 1)$$),
    'passed', 'rows of several claimed resources');
SELECT is(insert_rows($$(t, n) VALUES ('a', 1), ('a', 1), ('a', 3)$$),
    'RF003', 'another number is another resource');
SELECT is(insert_rows($$(t, n) VALUES ('a', 1), ('b', 1)$$),
    'RF003', 'another text of the same length as well');
SELECT is(insert_rows($$(t, n) VALUES ('ab', 1), ('ab', 2)$$),
    'RF003', 'each column counts');
SELECT is(insert_rows($$(t, n) VALUES ('a', 1), ('a', NULL)$$),
    'RF003', 'NULL is not what was there before');
SELECT is(insert_rows($$(t, n) VALUES ('a', 1), (NULL, 1)$$),
    'RF003', 'in no column');
SELECT is(insert_rows($$(t, n) VALUES ('a', 1), (repeat('x', 10000), 1)$$),
    'RF004', 'a text that is far too long is refused');
SELECT is(insert_rows($$(t, n) VALUES ('a', 1), ('', 1)$$),
    'RF003', 'so is an empty one that nobody has claimed');
SELECT is(insert_rows($$(t, n) SELECT 'a', 1 + i / 500
    FROM generate_series(1, 1000) i$$), 'RF003', 'the last of a thousand');
SELECT is(insert_rows($$(t, n) SELECT 'a', 1 + i % 2
    FROM generate_series(1, 1000) i$$), 'passed', 'a thousand, by turns');
SELECT throws_ok('UPDATE line SET n = n + 1 WHERE t = ''a''', 'RF003', NULL,
    'new rows are not taken for old ones');
SELECT lives_ok($$UPDATE line SET n = 3 - n WHERE t = 'a'$$,
    'both may be claimed');

SELECT protect('{u}');
SELECT ringfence.guard('00000000-0000-0000-0000-00000000000a', 1);
SELECT is(insert_rows($$(u) VALUES ('00000000-0000-0000-0000-00000000000a'),
    ('00000000-0000-0000-0000-00000000000a')$$), 'passed', 'a uuid');
SELECT is(insert_rows($$(u) VALUES ('00000000-0000-0000-0000-00000000000a'),
    ('00000000-0000-0000-0000-00000000000b')$$), 'RF003', 'to its last byte');
SELECT protect('{m}/{d}/{b}');
SELECT ringfence.guard('1.0/x/5000000000', 1);
SELECT is(insert_rows($$(m, d, b) VALUES (1.0, 'x', 5000000000),
    (1.0, 'x', 5000000000)$$), 'passed', 'numbers and a domain');
SELECT is(insert_rows($$(m, d, b) VALUES (1.0, 'x', 5000000000),
    (1.00, 'x', 5000000000)$$), 'RF003', 'as they print, not as they compare');
SELECT is(insert_rows($$(m, d, b) VALUES (1.0, 'x', 5000000000),
    (1.0, 'x', 705032704)$$), 'RF003', 'in all their bits');
SELECT protect('{c}');
SELECT ringfence.guard('ab  ', 1);
SELECT is(insert_rows($$(c) VALUES ('ab'), ('ab ')$$), 'passed', 'padded');

-- A claim that goes is not remembered.
SELECT protect('{t}');
SAVEPOINT s;
SELECT ringfence.guard('q', 1);
INSERT INTO line (t) VALUES ('q');
ROLLBACK TO s;
SELECT is(insert_rows($$(t) VALUES ('q')$$), 'RF003', 'nor is a claim that is gone');

SELECT * FROM finish();
ROLLBACK;
