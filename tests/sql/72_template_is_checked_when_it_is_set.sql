-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(23);

CREATE TABLE t (
    id int PRIMARY KEY, sku text, "odd name" text, day date,
    price double precision, place point, tags text[], kind uuid, n numeric);

SELECT throws_ok($$SELECT ringfence.protect('t', resource => 'a{sku')$$,
    'RF004', 'argument is invalid', 'an opening brace needs its partner');
SELECT throws_ok($$SELECT ringfence.protect('t', resource => 'a}b')$$,
    'RF004', 'argument is invalid', 'so does a closing one');
SELECT throws_ok($$SELECT ringfence.protect('t', resource => '{{sku}')$$,
    'RF004', 'argument is invalid', 'also after a doubled one');
SELECT throws_ok($$SELECT ringfence.protect('t', resource => 'a{}')$$,
    'RF004', 'argument is invalid', 'braces need a column between them');
SELECT throws_ok($$SELECT ringfence.protect('t', resource => 'a{s{ku}}')$$,
    'RF004', 'argument is invalid', 'braces do not nest');
SELECT throws_ok($$SELECT ringfence.protect('t', resource => '')$$,
    'RF004', 'argument is invalid', 'an empty template is none');
SELECT throws_ok(
    $$SELECT ringfence.protect('t', resource => repeat('x', 256) || '{sku}')$$,
    'RF004', 'argument is invalid', 'text that no value can shorten is refused');
SELECT throws_ok(
    $$SELECT ringfence.protect('t', resource => E'a\n{sku}')$$,
    'RF004', 'argument is invalid', 'control characters are refused');
SELECT throws_ok($$SELECT ringfence.protect('t', resource => 'a{SKU}')$$,
    'RF005', 'protection is set up wrongly', 'the column must exist, spelled so');
SELECT throws_ok($$SELECT ringfence.protect('t', resource => 'a{day}')$$,
    'RF005', 'protection is set up wrongly',
    'a date, which prints as DateStyle says, is refused');
SELECT throws_ok($$SELECT ringfence.protect('t', resource => 'a{price}')$$,
    'RF005', 'protection is set up wrongly', 'a float is refused');
SELECT throws_ok($$SELECT ringfence.protect('t', resource => 'a{place}')$$,
    'RF005', 'protection is set up wrongly', 'a point is refused');
SELECT throws_ok($$SELECT ringfence.protect('t', resource => 'a{tags}')$$,
    'RF005', 'protection is set up wrongly', 'an array is refused');
SELECT is((SELECT count(*) FROM pg_trigger WHERE tgrelid = 't'::regclass),
    0::bigint, 'no trigger was left by any of them');
SELECT lives_ok($$SELECT ringfence.protect('t',
    resource => 'a{id}{{x}}{odd name}/{kind}/{n}/{sku}')$$,
    'integers, texts, uuids, numerics and literal braces are fine');
SELECT ringfence.guard(
    'a1{x}two/00000000-0000-0000-0000-000000000001/1.50/s', 1, 'h');
SELECT lives_ok($$INSERT INTO t (id, "odd name", kind, n, sku) VALUES
    (1, 'two', '00000000-0000-0000-0000-000000000001', 1.50, 's')$$,
    'and are written as PostgreSQL prints them');


-- What the triggers ask for each row; nobody else needs to.
SELECT ringfence.guard('a7', 3, 'h');
SELECT is(ringfence.claimed('a{n}', 7), 3::bigint,
    'claimed() tells this transaction''s claim');
SELECT is(ringfence.claimed('a{n}', NULL::int), 0::bigint, 'NULL has none');
SELECT throws_ok($$SELECT ringfence.claimed('a{n}', 7, 8)$$,
    'RF004', 'argument is invalid', 'too many values');
SELECT throws_ok($$SELECT ringfence.claimed('a{n}')$$,
    'RF004', 'argument is invalid', 'too few values');
SELECT throws_ok($$SELECT ringfence.claimed('a{n}', VARIADIC ARRAY[7])$$,
    'RF004', 'argument is invalid', 'values in an array');
SELECT throws_ok($$SELECT ringfence.claimed(NULL, 7)$$,
    'RF004', 'argument is invalid', 'no template');
SELECT throws_ok($$SELECT ringfence.claimed('a{n}', now())$$,
    'RF004', 'argument is invalid', 'a value that prints as the session likes');

SELECT * FROM finish();
ROLLBACK;
