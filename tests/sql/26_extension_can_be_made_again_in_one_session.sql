-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(5);

SELECT ringfence.guard('r', 5, 'a');
DROP EXTENSION ringfence;
CREATE EXTENSION ringfence;
SELECT is(ringfence.high_water('r'), 0::bigint, 'the new registry is empty');
SELECT ok(ringfence.guard('r', 3, 'a'), 'and is the one that is used');
SAVEPOINT s;
DROP EXTENSION ringfence;
CREATE EXTENSION ringfence;
SELECT ringfence.guard('r', 1, 'a') AS again \gset
ROLLBACK TO s;
SELECT ok(:'again', 'in the transaction that made it');
SELECT is(ringfence.high_water('r'), 3::bigint,
    'rolled back: the registry from before is back');
REINDEX TABLE ringfence.registry;
SELECT ok(ringfence.guard('r', 4, 'a'), 'the index may be rebuilt');

SELECT * FROM finish();
ROLLBACK;
