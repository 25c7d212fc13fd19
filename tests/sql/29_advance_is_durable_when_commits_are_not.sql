-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(2);

COMMIT;
SET synchronous_commit = off;
CREATE TABLE plain (n int);
CREATE PROCEDURE advance(INOUT late int, INOUT kept int)
LANGUAGE plpgsql AS $$
DECLARE
    written pg_lsn;
BEGIN
    FOR i IN 1 .. 50 LOOP
        PERFORM ringfence.guard('r', i, 'a');
        written := pg_current_wal_insert_lsn();
        COMMIT;
        IF pg_current_wal_flush_lsn() < written THEN
            late := late + 1;
        END IF;
        INSERT INTO plain VALUES (i);
        written := pg_current_wal_insert_lsn();
        COMMIT;
        IF pg_current_wal_flush_lsn() < written THEN
            kept := kept + 1;
        END IF;
    END LOOP;
END $$;
CALL advance(0, 0) \gset
BEGIN;
SELECT is(:late, 0, 'no advance was acknowledged before it was on disk');
SELECT cmp_ok(:kept, '>', 0, 'other commits still are');

SELECT * FROM finish();
ROLLBACK;
