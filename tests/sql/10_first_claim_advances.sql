-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(6);

SELECT is(ringfence.high_water('r'), 0::bigint,
    'a resource never claimed has no fence');
SELECT ok(ringfence.guard('r', 5, 'a'), 'the first claim is accepted');
SELECT is(ringfence.high_water('r'), 5::bigint, 'its fence is stored');
SELECT results_eq(
    'SELECT fence, holder FROM ringfence.registry WHERE resource = ''r''',
    $$VALUES (5::bigint, 'a'::text)$$,
    'so is its holder');
SELECT ok(ringfence.guard('r', 9, 'b'), 'a greater fence is accepted');
SELECT results_eq(
    'SELECT fence, holder FROM ringfence.registry WHERE resource = ''r''',
    $$VALUES (9::bigint, 'b'::text)$$,
    'and replaces what was stored');

SELECT * FROM finish();
ROLLBACK;
