-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(6);

SELECT throws_ok($$SELECT ringfence.fence('r')$$,
    'RF006', 'resource is not claimed by this transaction', 'no claim yet');
SELECT ringfence.guard('r', 5, 'a');
SELECT is(ringfence.fence('r'), 5::bigint, 'the claimed fence');
SELECT ringfence.guard('r', 7, 'a');
SELECT is(ringfence.fence('r'), 7::bigint, 'the newest of several');
SELECT throws_ok($$SELECT ringfence.fence('s')$$,
    'RF006', 'resource is not claimed by this transaction',
    'of no other resource');
SELECT throws_ok($$SELECT ringfence.fence(NULL)$$,
    'RF004', 'argument is invalid', 'null is no resource');
SELECT throws_ok($$SELECT ringfence.fence('')$$,
    'RF004', 'argument is invalid', 'nor is the empty one');

SELECT * FROM finish();
ROLLBACK;
