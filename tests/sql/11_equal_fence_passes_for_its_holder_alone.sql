-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(8);

SELECT ringfence.guard('r', 5, 'a');
SELECT ok(ringfence.guard('r', 5, 'a'), 'the same holder passes again');
SELECT throws_ok($$SELECT ringfence.guard('r', 5, 'b')$$,
    'RF002', 'fence belongs to another holder', 'another holder does not');
SELECT throws_ok($$SELECT ringfence.guard('r', 5)$$,
    'RF002', 'fence belongs to another holder', 'nor one without a name');
SELECT throws_ok($$SELECT ringfence.guard('r', 5, 'A')$$,
    'RF002', 'fence belongs to another holder', 'nor one in other letters');
SELECT throws_ok($$SELECT ringfence.guard('r', 5, 'a ')$$,
    'RF002', 'fence belongs to another holder', 'nor one that is longer');

SELECT ringfence.guard('n', 5);
SELECT ok(ringfence.guard('n', 5), 'without names, both are one holder');
SELECT throws_ok($$SELECT ringfence.guard('n', 5, 'a')$$,
    'RF002', 'fence belongs to another holder',
    'a holder with a name is not the one without');
SELECT ok(ringfence.guard('m', 5, 'b'), 'other resources are not concerned');

SELECT * FROM finish();
ROLLBACK;
