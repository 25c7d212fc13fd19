-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- A session finds the rows of ten thousand resources again without their index.
-- PostgreSQL 13 can't look into a buffer by its number, and always takes it.
BEGIN;
SELECT plan(2);

COMMIT;
-- So many at a time, since each claim is a lock.
CREATE PROCEDURE claim_all(INOUT by_index bigint)
LANGUAGE plpgsql AS $$
DECLARE
    before bigint;
BEGIN
    FOR part IN 0 .. 9 LOOP
        before := pg_stat_get_xact_numscans('ringfence.registry_pkey'::regclass);
        PERFORM ringfence.guard('r' || i, 1, 'a')
            FROM generate_series(1000 * part + 1, 1000 * part + 1000) AS i;
        by_index := by_index - before +
            pg_stat_get_xact_numscans('ringfence.registry_pkey'::regclass);
        COMMIT;
    END LOOP;
END
$$;
CALL claim_all(0) \gset first_
CALL claim_all(0) \gset again_
SELECT current_setting('server_version_num')::int < 140000 AS is_13 \gset

BEGIN;
SELECT cmp_ok(:first_by_index, '>=', 10000, 'by the index when they are new');
\if :is_13
SELECT cmp_ok(:again_by_index, '>=', 10000, 'and again');
\else
SELECT cmp_ok(:again_by_index, '<', 1000, 'and hardly ever again');
\endif

SELECT * FROM finish();
ROLLBACK;
