-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(20);

SELECT ringfence.guard('r', 5, 'a');
SELECT bool_and(ringfence.once('r', 'op-' || i)) FROM generate_series(1, 10) i;
SELECT is(ringfence.expire_receipts('0'), 0,
    'receipts of this moment have no age, not even none');
UPDATE ringfence.receipts SET applied_at = now() - interval '2 hours'
    WHERE operation <> 'op-10';
SELECT is(ringfence.expire_receipts('3 hours'), 0, 'young ones stay');
SELECT is(ringfence.expire_receipts('1 hour', 4), 4, 'so many old ones a call');
SELECT is(ringfence.expire_receipts('1 hour', 4), 4, 'and so many');
SELECT is(ringfence.expire_receipts('1 hour', 4), 1, 'then the rest');
SELECT is(ringfence.expire_receipts('1 hour', 4), 0, 'then none');
SELECT results_eq('SELECT operation FROM ringfence.receipts',
    $$VALUES ('op-10' COLLATE "C")$$, 'and young ones are still there');
UPDATE ringfence.receipts SET applied_at = now() - interval '1 microsecond';
SELECT is(ringfence.expire_receipts('0', 1), 1, 'no age reaches all that was');

SELECT throws_ok($$SELECT ringfence.expire_receipts(NULL)$$,
    'RF004', 'argument is invalid', 'NULL is no age');
SELECT throws_ok($$SELECT ringfence.expire_receipts('-1 second')$$,
    'RF004', NULL, 'nothing is younger than now');
SELECT throws_ok($$SELECT ringfence.expire_receipts('1 month -32 days')$$,
    'RF004', NULL, 'whichever way it is written');
SELECT throws_ok($$SELECT ringfence.expire_receipts('1 day -25 hours')$$,
    'RF004', NULL, 'or added up');
SELECT throws_ok($$SELECT ringfence.expire_receipts('-178000000 years')$$,
    'RF004', NULL, 'however far');
SELECT throws_ok($$SELECT ringfence.expire_receipts('178000000 years')$$,
    'RF004', NULL, 'nothing is that old');
SELECT is(ringfence.expire_receipts('4000 years'), 0, 'this is the most');
SELECT throws_ok($$SELECT ringfence.expire_receipts('1 hour', NULL)$$,
    'RF004', 'argument is invalid', 'NULL is no number');
SELECT throws_ok($$SELECT ringfence.expire_receipts('1 hour', 0)$$,
    'RF004', NULL, 'none a call');
SELECT throws_ok($$SELECT ringfence.expire_receipts('1 hour', -1)$$,
    'RF004', NULL, 'fewer than none');
SELECT throws_ok($$SELECT ringfence.expire_receipts('1 hour', 100001)$$,
    'RF004', NULL, 'too many a call');
SELECT is(ringfence.expire_receipts('1 hour', 100000), 0, 'this is the most');

SELECT * FROM finish();
ROLLBACK;
