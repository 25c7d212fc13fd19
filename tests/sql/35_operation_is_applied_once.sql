-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(14);

SELECT throws_ok($$SELECT ringfence.once('r', 'op-1')$$,
    'RF006', 'resource is not claimed by this transaction', 'a claim comes first');
SELECT ringfence.guard('r', 5, 'a');
SELECT ok(ringfence.once('r', 'op-1'), 'true where it is applied');
SELECT ok(ringfence.once('r', 'op-1'), 'and when it is asked again there');
SELECT ok(ringfence.once('r', 'op-2'), 'another operation is another one');
SAVEPOINT s;
SELECT ringfence.once('r', 'op-3') AS applied \gset
ROLLBACK TO s;
SELECT ok(:'applied', 'rolled back to a savepoint,');
COMMIT;
BEGIN;
SELECT ringfence.guard('r', 6, 'b');
SELECT ringfence.guard('s', 6, 'b');
SELECT is(ringfence.once('r', 'op-1'), false, 'false once it has committed');
SELECT is(ringfence.once('r', 'op-2'), false, 'for each');
SELECT ok(ringfence.once('r', 'op-3'), 'it was never applied');
SELECT ok(ringfence.once('s', 'op-1'), 'another resource has its own');
SELECT throws_ok($$SELECT ringfence.once('r', NULL)$$,
    'RF004', 'argument is invalid', 'an operation has a name');
SELECT throws_ok($$SELECT ringfence.once('r', '')$$,
    'RF004', 'argument is invalid', 'which is not empty');
SELECT throws_ok($$SELECT ringfence.once('r', repeat('x', 256))$$,
    'RF004', 'argument is invalid', 'nor over-long');
SELECT throws_ok($$SELECT ringfence.once('r', E'a\nb')$$,
    'RF004', 'argument is invalid', 'nor has it control characters');
SELECT is(fence, 5::bigint, 'the receipt tells under which fence')
    FROM ringfence.receipts WHERE resource = 'r' AND operation = 'op-1';

SELECT * FROM finish();
ROLLBACK;
