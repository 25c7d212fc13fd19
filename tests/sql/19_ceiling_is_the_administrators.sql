-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(12);

SELECT is(current_setting('ringfence.max_fence'), '9007199254740991',
    'the ceiling is 2^53 - 1');
SET ringfence.max_fence = '100';
SELECT ok(ringfence.guard('r', 100), 'the ceiling itself is accepted');
SELECT throws_ok($$SELECT ringfence.guard('r', 101)$$,
    'RF004', 'argument is invalid', 'what is above it is not');
SET ringfence.max_fence = '9223372036854775807';
SELECT ok(ringfence.guard('s', 9223372036854775807), 'it may be raised');
SELECT throws_ok(format('SET ringfence.max_fence = %L', value),
    '22023', NULL, format('not a ceiling: "%s"', value))
    FROM unnest(ARRAY['', '0', '-1', '1e9', ' 5', '9223372036854775808', '0x10'])
        AS value;
CREATE ROLE rf_19;
SET LOCAL ROLE rf_19;
SELECT throws_ok($$SET ringfence.max_fence = '200'$$,
    '42501', NULL, 'a role may not set it');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
