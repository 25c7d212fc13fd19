-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 28
BEGIN;
SELECT plan(9);

CREATE TABLE mother (sku text, fence bigint);
CREATE TABLE child () INHERITS (mother);
CREATE TABLE later (sku text, fence bigint);
SELECT throws_ok($$SELECT ringfence.protect('mother', 'fence')$$,
    'RF005', NULL, 'a table that others inherit from is refused');
SELECT throws_ok($$SELECT ringfence.protect('child', 'fence')$$,
    'RF005', NULL, 'so is one that inherits');

INSERT INTO later VALUES ('a', 5);
SELECT ringfence.protect('later', 'fence');
ALTER TABLE later INHERIT mother;
SELECT is(problem || '; ' || remedy, 'is written by way of its parent '
        'public.mother, past triggers on statements; '
        'ALTER TABLE public.later NO INHERIT public.mother',
    'one that inherits later is found') FROM ringfence.audit();
SELECT lives_ok(remedy, 'its remedy runs') FROM ringfence.audit();
SELECT is_empty('SELECT * FROM ringfence.audit()', 'and mends it');

CREATE TABLE grandchild () INHERITS (later);
SELECT is(problem || '; ' || remedy, 'inherits from public.later: what is '
        'written to it by way of the parent is not judged; '
        'ALTER TABLE public.grandchild NO INHERIT public.later',
    'one that is inherited from later is found')
FROM ringfence.audit() WHERE severity = 'critical';
SELECT lives_ok(remedy, 'its remedy runs')
FROM ringfence.audit() WHERE severity = 'critical';
SELECT is_empty(
    $$SELECT * FROM ringfence.audit() WHERE severity = 'critical'$$,
    'and mends it');
SELECT throws_ok('UPDATE later SET sku = sku', 'RF003', NULL,
    'the table is protected all the while');

SELECT * FROM finish();
ROLLBACK;
