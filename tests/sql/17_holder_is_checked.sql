-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(6);

SELECT ok(ringfence.guard('r', 1, repeat('h', 128)), '128 bytes');
SELECT throws_ok($$SELECT ringfence.guard('r', 2, repeat('h', 129))$$,
    'RF004', 'argument is invalid', '129 bytes');
SELECT throws_ok($$SELECT ringfence.guard('r', 2, repeat('é', 65))$$,
    'RF004', 'argument is invalid', '65 characters in 130 bytes');
SELECT throws_ok($$SELECT ringfence.guard('r', 2, '')$$,
    'RF004', 'argument is invalid', 'empty: a variable that was never set');
SELECT throws_ok($$SELECT ringfence.guard('r', 1, repeat('h', 127))$$,
    'RF002', 'fence belongs to another holder', 'compared to the last byte');
SELECT is(ringfence.high_water('r'), 1::bigint, 'nothing else was stored');

SELECT * FROM finish();
ROLLBACK;
