-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(9);

SELECT throws_ok($$SELECT ringfence.guard('r', 1, lease => '0')$$,
    'RF004', 'argument is invalid', 'zero');
SELECT throws_ok($$SELECT ringfence.guard('r', 1, lease => '-1 s')$$,
    'RF004', 'argument is invalid', 'negative');
SELECT throws_ok($$SELECT ringfence.guard('r', 1, lease => '1 day -25 hours')$$,
    'RF004', 'argument is invalid', 'negative in sum');
SELECT throws_ok($$SELECT ringfence.guard('r', 1, lease => '25 days')$$,
    'RF004', 'argument is invalid', 'more than 24 days');
SELECT throws_ok($$SELECT ringfence.guard('r', 1, lease => '100000000 years')$$,
    'RF004', 'argument is invalid', 'the longest there is');
SELECT is(ringfence.high_water('r'), 0::bigint, 'nothing was stored');
SELECT ok(ringfence.guard('r', 1, lease => '24 days'), '24 days');
SELECT ok(ringfence.guard('r', 1, lease => NULL), 'null is none');
SELECT ok(ringfence.guard('r', 1, lease => '1 day -23 hours'),
    'positive in sum');

SELECT * FROM finish();
ROLLBACK;
