-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(8);

SELECT ringfence.guard('r', 5, 'a');
SELECT ringfence.guard('r', 6, 'a');
SELECT throws_ok($$SELECT ringfence.guard('r', 5, 'a')$$,
    'RF001', 'fence is stale',
    'the grant it began with is refused once it has claimed a newer one');
SELECT is(ringfence.try_guard('r', 5, 'a'), false, 'by try_guard as well');
SELECT is(ringfence.fence('r'), 6::bigint, 'the newer one stands');
SELECT ok(ringfence.guard('r', 6, 'a'), 'and passes');
SELECT throws_ok($$SELECT ringfence.guard('r', 6, 'b')$$,
    'RF002', NULL, 'for its holder alone');
-- Bare: whatever ends elsewhere meanwhile, such a statement need not be retried.
SELECT format('%s %s %s %s %s', ringfence.try_guard('s', 5, 'a'),
    ringfence.try_guard('s', 4, 'a'), ringfence.try_guard('s', 5, 'b'),
    ringfence.try_guard('s', 6, 'b'), ringfence.try_guard('s', 5, 'a')) AS said
\gset
SELECT is(:'said'::text, 't f f t f', 'calls within one statement know of each other');
SELECT is(ringfence.high_water('s'), 6::bigint, 'the last one is stored');
SELECT is(count(*), 1::bigint, 'in one row')
    FROM ringfence.registry WHERE resource = 's';

SELECT * FROM finish();
ROLLBACK;
