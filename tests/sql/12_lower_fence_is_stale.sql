-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(5);

SELECT ringfence.guard('r', 5, 'a');
SELECT throws_ok($$SELECT ringfence.guard('r', 4, 'a')$$,
    'RF001', 'fence is stale', 'a lower fence of the same holder is refused');
SELECT throws_ok($$SELECT ringfence.guard('r', 4, 'b')$$,
    'RF001', 'fence is stale', 'and one of another holder');
SELECT throws_ok($$SELECT ringfence.guard('r', 1)$$,
    'RF001', 'fence is stale', 'and one without a name');
SELECT is(ringfence.high_water('r'), 5::bigint, 'nothing was stored');
SELECT ok(ringfence.guard('r', 5, 'a'), 'the newest still passes');

SELECT * FROM finish();
ROLLBACK;
