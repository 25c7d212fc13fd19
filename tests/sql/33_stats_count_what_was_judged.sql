-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(8);

CREATE TEMP TABLE before AS SELECT * FROM ringfence.stats();
SELECT ringfence.guard('r', 5, 'a');
SELECT ringfence.guard('r', 5, 'a');
SELECT ringfence.guard('r', 6, 'a');
SELECT ringfence.try_guard('r', 5, 'a');
SELECT ringfence.try_guard('r', 4, 'a');
SELECT ringfence.try_guard('r', 6, 'b');
CREATE TEMP TABLE after AS SELECT * FROM ringfence.stats();

SELECT is(server_wide, true, 'preloaded: of the whole server') FROM after;
SELECT cmp_ok(a.checks - b.checks, '>=', 6::bigint, 'checks') FROM after a, before b;
SELECT cmp_ok(a.advances - b.advances, '>=', 2::bigint, 'advances') FROM after a, before b;
SELECT cmp_ok(a.stale - b.stale, '>=', 2::bigint, 'stale') FROM after a, before b;
SELECT cmp_ok(a.collision - b.collision, '>=', 1::bigint, 'collision') FROM after a, before b;
SELECT cmp_ok(a.preempted, '>=', b.preempted, 'preempted') FROM after a, before b;
SELECT cmp_ok(a.unfenced, '>=', b.unfenced, 'unfenced') FROM after a, before b;
SELECT cmp_ok(a.wait_ms, '>=', b.wait_ms, 'wait_ms') FROM after a, before b;

SELECT * FROM finish();
ROLLBACK;
