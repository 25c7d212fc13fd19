-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(4);

SELECT ringfence.guard('r', 5, 'a');
COMMIT;
BEGIN READ ONLY;
SELECT ringfence.guard('r', 5, 'a') AS stored, ringfence.try_guard('r', 4, 'a') AS older \gset
\set ON_ERROR_STOP off
SELECT ringfence.guard('r', 6, 'a');
\set state :SQLSTATE
ROLLBACK;
\set ON_ERROR_STOP on
BEGIN;
SELECT is(:'stored'::boolean, true, 'a stored fence passes');
SELECT is(:'older'::boolean, false, 'a stale one is stale');
SELECT is(:'state'::text, 'RF005', 'a newer one cannot be stored');
SELECT is(ringfence.high_water('r'), 5::bigint, 'and was not');

SELECT * FROM finish();
ROLLBACK;
