-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(12);

SELECT throws_ok($$SELECT ringfence.guard('r', NULL)$$,
    'RF004', 'argument is invalid', 'null');
SELECT throws_ok($$SELECT ringfence.guard('r', 0)$$,
    'RF004', 'argument is invalid', '0 is never a fence');
SELECT throws_ok($$SELECT ringfence.guard('r', -1)$$,
    'RF004', 'argument is invalid', 'negative');
SELECT throws_ok($$SELECT ringfence.guard('r', -9223372036854775808)$$,
    'RF004', 'argument is invalid', 'the lowest number');
SELECT throws_ok($$SELECT ringfence.guard('r', 9007199254740992)$$,
    'RF004', 'argument is invalid', '2^53 is above the ceiling');
SELECT throws_ok($$SELECT ringfence.guard('r', 9223372036854775807)$$,
    'RF004', 'argument is invalid', 'so is 2^63 - 1');
SELECT throws_ok($$SELECT ringfence.try_guard('r', 9007199254740992)$$,
    'RF004', 'argument is invalid', 'for try_guard too');
SELECT is(ringfence.high_water('r'), 0::bigint, 'nothing was stored');
SELECT ok(ringfence.guard('r', 1), '1 is the first');
SELECT ok(ringfence.guard('r', 9007199254740991), '2^53 - 1 is the last');
SELECT throws_ok($$SELECT ringfence.guard('r', 9007199254740990)$$,
    'RF001', 'fence is stale', 'great numbers are compared exactly');
SELECT throws_ok($$SELECT ringfence.guard('r', 1, preempt => NULL)$$,
    'RF004', 'argument is invalid', 'preempt is not null');

SELECT * FROM finish();
ROLLBACK;
