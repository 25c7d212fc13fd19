-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(32);

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
SELECT ringfence.guard('a7', 3, 'h'), ringfence.guard('a8', 4, 'h');
SELECT is(ARRAY[ringfence.unclaimed('a{n}', 7), ringfence.unclaimed('a{n}', 9),
        ringfence.unclaimed('a{n}', NULL::int)], '{f,t,t}',
    'unclaimed(): by a value; NULL belongs to no resource');
SELECT is(ARRAY[ringfence.unclaimed('a{n}', 7, 8), ringfence.unclaimed('a{n}', 9, 8),
        ringfence.unclaimed('a{n}', 7, 9)], '{f,t,t}', 'of either of two rows');
SELECT is(array_agg(ringfence.unfenced('a{n}', f, 7) ORDER BY f), '{t,t,f,t,t}',
    'unfenced(): a fence that is not the claim')
FROM unnest(ARRAY[0, 2, 3, 4, NULL]) f;
SELECT is(array_agg(ringfence.outdated('a{n}', f, 7) ORDER BY f), '{f,f,t,f}',
    'outdated(): one that is newer') FROM unnest(ARRAY[2, 3, 4, NULL]) f;
SELECT is(ARRAY[ringfence.outdated('a{n}', NULL, 9), ringfence.outdated('a{n}', 0, 9),
        ringfence.unfenced('a{n}', 0, 9)], '{t,t,t}', 'nobody''s rows are neither');
SELECT is(ARRAY[ringfence.unfenced_update('a{n}', 3, 4, 7, 8),
        ringfence.unfenced_update('a{n}', 4, 4, 7, 8),
        ringfence.unfenced_update('a{n}', 3, 3, 7, 8)], '{f,t,t}',
    'unfenced_update(): the old row, and then the new one');
SELECT is(ARRAY[ringfence.unfenced_update('a7', 3, 3),
        ringfence.unfenced_update('a7', 4, 3), ringfence.unfenced_update('a7', 3, 4),
        ringfence.unclaimed('a7'), ringfence.unfenced('a7', 3),
        ringfence.outdated('a7', 4)], '{f,t,t,f,f,t}', 'all without columns');
SELECT throws_ok($$SELECT ringfence.unclaimed('a{n}', 7, 8, 9)$$,
    'RF004', 'argument is invalid', 'too many values');
SELECT throws_ok($$SELECT ringfence.outdated('a{n}', 1, 7, 8)$$,
    'RF004', 'argument is invalid', 'of two rows where one is asked of');
SELECT throws_ok($$SELECT ringfence.unclaimed('a{n}{m}', 7, 8, 9)$$,
    'RF004', 'argument is invalid', 'of one row and a half');
SELECT throws_ok($$SELECT ringfence.unclaimed('a{n}')$$,
    'RF004', 'argument is invalid', 'too few values');
SELECT throws_ok($$SELECT ringfence.unclaimed('a{n}', 7, '8'::text)$$,
    'RF004', 'argument is invalid', 'a column of two types');
SELECT throws_ok($$SELECT ringfence.unclaimed('a{n}', VARIADIC ARRAY[7])$$,
    'RF004', 'argument is invalid', 'values in an array');
SELECT throws_ok($$SELECT ringfence.unclaimed(NULL, 7)$$,
    'RF004', 'argument is invalid', 'no template');
SELECT throws_ok($$SELECT ringfence.unclaimed('a{n}', now())$$,
    'RF004', 'argument is invalid', 'a value that prints as the session likes');
SELECT is(ARRAY[ringfence.lowered(5, 5), ringfence.lowered(NULL, 1),
        ringfence.lowered(5, 4), ringfence.lowered(5, NULL), ringfence.lowered(NULL, 0),
        ringfence.lowered(5, 9007199254740991), ringfence.lowered(5, 9007199254740992)],
    '{f,f,t,t,t,f,t}', 'lowered(): none, less than it was, or more than may be');

SELECT * FROM finish();
ROLLBACK;
