-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- There every look is one by the index.
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT plan(6);

CREATE FUNCTION pg_temp.scans() RETURNS bigint LANGUAGE sql AS
    $$SELECT pg_stat_get_xact_numscans('ringfence.registry_pkey'::regclass)$$;
SELECT ringfence.guard('r', 5, 'a');
SELECT pg_temp.scans() AS before \gset
SELECT count(ringfence.guard('r', 5, 'a')) FROM generate_series(1, 1000);
SELECT is(pg_temp.scans(), :before::bigint, 'not for the same grant');
SELECT throws_ok($$SELECT ringfence.guard('r', 5, 'b')$$, 'RF002', NULL,
    'another holder is judged');
SELECT throws_ok($$SELECT ringfence.guard('r', 4, 'a')$$, 'RF001', NULL,
    'so is a lower fence');
SELECT cmp_ok(pg_temp.scans(), '>', :before::bigint, 'by a look');


-- What was stored is remembered across transactions; what was rolled back is
-- not, or the next claim would begin as one that has passed before.
COMMIT;
BEGIN;
SELECT pg_temp.scans() AS before \gset
SAVEPOINT s;
SELECT ringfence.guard('r', 6, 'b');
SELECT is(ringfence.high_water('r'), 6::bigint, 'its own row is seen');
ROLLBACK TO s;
SELECT pg_temp.scans() AS before \gset
SELECT ringfence.guard('r', 6, 'b');
-- Before 14 the place can't be looked at without the index.
SELECT is(pg_temp.scans(), :before::bigint +
    CASE WHEN current_setting('server_version_num')::int < 140000 THEN 2 ELSE 1 END,
    'and not remembered: the stored one is looked for, and found there again');

SELECT * FROM finish();
ROLLBACK;
