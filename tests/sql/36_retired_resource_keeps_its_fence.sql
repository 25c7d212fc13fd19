-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(18);

COMMIT;
SELECT count(ringfence.guard('r' || i, i, 'a')) FROM generate_series(1, 20) AS i;
BEGIN;
SELECT is(ringfence.retire('1 hour'), 0, 'nothing is idle for an hour');
UPDATE ringfence.registry SET claimed_at = now() - interval '2 hours'
    WHERE resource <> 'r20';
SELECT is(ringfence.retire('1 hour', 5), 5, 'so many at a time');
SELECT is(ringfence.retire('1 hour'), 14, 'then the rest');
SELECT is(count(*), 1::bigint, 'one is left') FROM ringfence.registry;
SELECT is(fence, 19::bigint, 'the floor is the highest of them')
    FROM ringfence.retired;
COMMIT;
BEGIN;
SELECT throws_ok($$SELECT ringfence.guard('r7', 7, 'a')$$,
    'RF001', 'fence is stale', 'a retired fence is refused, its holder too');
SELECT throws_ok($$SELECT ringfence.guard('r7', 19, 'a')$$,
    'RF002', 'fence belongs to another holder', 'so is the floor itself');
SELECT throws_ok($$SELECT ringfence.guard('r19', 19)$$,
    'RF002', 'fence belongs to another holder', 'from whoever');
SELECT throws_ok($$SELECT ringfence.guard('never seen', 19, 'a')$$,
    'RF002', NULL, 'and for a resource that was never seen');
SELECT is(ringfence.high_water('r7'), 19::bigint, 'which high_water tells');
SELECT ok(ringfence.guard('r7', 20, 'a'), 'above the floor is accepted');
SELECT is(ringfence.high_water('r7'), 20::bigint, 'and stored');
SELECT ok(ringfence.guard('r20', 20, 'a'), 'who is not retired goes on');

UPDATE ringfence.registry SET claimed_at = now() - interval '2 hours';
SELECT is(ringfence.retire('1 hour'), 0, 'what is claimed here is not idle');
SELECT throws_ok($$SELECT ringfence.retire(NULL)$$, 'RF004', NULL, 'no age');
SELECT throws_ok($$SELECT ringfence.retire('-1 hour')$$, 'RF004', NULL,
    'negative age');
SELECT throws_ok($$SELECT ringfence.retire('1 hour', 0)$$, 'RF004', NULL,
    'none at a time');
SELECT throws_ok($$SELECT ringfence.retire('1 hour', 10001)$$, 'RF004', NULL,
    'too many at a time');

SELECT * FROM finish();
ROLLBACK;
