-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(15);

COMMIT;
SELECT ringfence.guard('r', 500, 'a');
BEGIN;
SELECT is(ringfence.reset('r', 10), 500::bigint, 'down; it tells what was');
SELECT throws_ok($$SELECT ringfence.guard('r', 9, 'a')$$, 'RF001', NULL,
    'what is below is refused');
SELECT throws_ok($$SELECT ringfence.guard('r', 10, 'a')$$, 'RF002', NULL,
    'the number itself is nobody''s');
SELECT throws_ok($$SELECT ringfence.guard('r', 10)$$, 'RF002', NULL,
    'not even of one without a name');
SELECT ok(ringfence.guard('r', 11, 'a'), 'what is above is accepted');
COMMIT;
BEGIN;
SELECT is(ringfence.reset('r', 1000), 11::bigint, 'up');
SELECT throws_ok($$SELECT ringfence.guard('r', 999, 'a')$$, 'RF001', NULL,
    'what is below is refused');
SELECT is(ringfence.reset('r', 0), 1000::bigint, 'to 0: forgotten');
SELECT is(ringfence.high_water('r'), 0::bigint, 'as if never claimed');
SELECT ok(ringfence.guard('r', 1, 'a'), 'the first is accepted');
SELECT throws_ok($$SELECT ringfence.reset('r', 5)$$, 'RF004', NULL,
    'not what this transaction has claimed');
SELECT throws_ok($$SELECT ringfence.reset('s', -1)$$, 'RF004', NULL, 'negative');
SELECT throws_ok($$SELECT ringfence.reset('s', NULL)$$, 'RF004', NULL, 'null');
SELECT throws_ok($$SELECT ringfence.reset('s', 9007199254740992)$$, 'RF004',
    NULL, 'above the ceiling');
SELECT is(ringfence.reset('s', 7), 0::bigint, 'a new resource');

SELECT * FROM finish();
ROLLBACK;
