-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(9);

SELECT ringfence.guard('r', 5, 'a');
SAVEPOINT one;
SELECT ringfence.guard('r', 6, 'a');
SAVEPOINT two;
SELECT ringfence.guard('r', 7, 'a');
SELECT ringfence.guard('s', 1, 'a');
SELECT ringfence.fence('r') AS innermost \gset
ROLLBACK TO two;
SELECT is(:innermost, 7, 'the innermost claim counts');
SELECT is(ringfence.fence('r'), 6::bigint, 'rolled back: the one before');
SELECT throws_ok($$SELECT ringfence.fence('s')$$, 'RF006', NULL,
    'rolled back: none');
SELECT ringfence.guard('r', 8, 'a');
RELEASE two;
SELECT ringfence.fence('r') AS released \gset
ROLLBACK TO one;
SELECT is(:released, 8, 'released: it stays');
SELECT is(ringfence.fence('r'), 5::bigint, 'and goes with the outer one');
SELECT is(ringfence.high_water('r'), 5::bigint, 'as what was stored does');
SELECT throws_ok($$SELECT ringfence.guard('r', 4, 'a')$$, 'RF001', NULL,
    'the claim that stands still refuses');

DO $$
BEGIN
    PERFORM ringfence.guard('r', 9, 'a');
    RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN
    NULL;
END $$;
SELECT is(ringfence.fence('r'), 5::bigint, 'a caught error takes its claim');
SELECT ok(ringfence.guard('r', 9, 'b'), 'so the number is free');

SELECT * FROM finish();
ROLLBACK;
