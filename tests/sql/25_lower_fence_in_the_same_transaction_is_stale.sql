-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(5);

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

SELECT * FROM finish();
ROLLBACK;
