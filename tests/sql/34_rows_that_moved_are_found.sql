-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(11);

COMMIT;
SELECT count(ringfence.guard('r' || i, 5, 'a')) FROM generate_series(1, 500) AS i;

VACUUM FULL ringfence.registry;
BEGIN;
SELECT is(count(*), 500::bigint, 'the table was rewritten')
    FROM generate_series(1, 500) AS i WHERE ringfence.guard('r' || i, 5, 'a');
SELECT throws_ok($$SELECT ringfence.guard('r7', 4, 'a')$$, 'RF001', NULL,
    'and still refuses');
ROLLBACK;

DELETE FROM ringfence.registry WHERE resource <> 'r500';
VACUUM ringfence.registry;
SELECT count(ringfence.guard('s' || i, 9, 'b')) AS claimed
    FROM generate_series(1, 499) AS i \gset
BEGIN;
SELECT is(:claimed, 499, 'places were given to others');
SELECT is(ringfence.high_water('r7'), 0::bigint,
    'what was deleted is not found in a place that it had');
SELECT ok(ringfence.guard('r7', 1, 'b'), 'and is free');
SELECT is(ringfence.high_water('s7'), 9::bigint, 'what came there is found');
SELECT is(ringfence.high_water('r500'), 5::bigint, 'so is what stayed');
ROLLBACK;

DELETE FROM ringfence.registry;
VACUUM ringfence.registry;
BEGIN;
SELECT is(pg_relation_size('ringfence.registry'), 0::bigint,
    'the table was cut off');
SELECT is(count(*), 499::bigint, 'beyond its end is nothing')
    FROM generate_series(1, 499) AS i WHERE ringfence.high_water('s' || i) = 0;

COMMIT;

-- A place is given away without a vacuum: the second version of a row, in a page
-- that is tidied up as it fills, as soon as no transaction needs that any more.
SELECT ringfence.guard('t1', 1, 'a');
UPDATE ringfence.registry SET fence = 2;
SELECT ringfence.guard('t1', 2, 'a');
INSERT INTO ringfence.registry
    SELECT 't' || i, 1, repeat('x', 100), now() FROM generate_series(2, 24) AS i;
UPDATE ringfence.registry SET fence = fence + 1 WHERE resource < 't5';
\ir second_place_of_the_first_page.psql
CALL give_second_place_to_t9('ringfence.registry');
BEGIN;
SELECT is(ctid, '(0,2)', 'the place is another resource''s')
    FROM ringfence.registry WHERE resource = 't9';
SELECT is(ringfence.high_water('t1'), 3::bigint,
    'which does not speak for the one that was there');

SELECT * FROM finish();
ROLLBACK;
