-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(4);

COMMIT;
SELECT ringfence.guard('r', 5, 'a');

-- Other sessions write as well: one round in which nobody did is a proof.
CREATE PROCEDURE calm_rounds(statement text, INOUT calm int)
LANGUAGE plpgsql AS $$
DECLARE
    before pg_lsn;
BEGIN
    FOR i IN 1 .. 200 LOOP
        before := pg_current_wal_insert_lsn();
        FOR j IN 1 .. 10 LOOP
            BEGIN
                EXECUTE statement;
            EXCEPTION WHEN serialization_failure THEN
                -- A claim from within a function may have to be retried.
                NULL;
            END;
            COMMIT;
        END LOOP;
        IF pg_current_wal_insert_lsn() = before THEN
            calm := calm + 1;
        END IF;
    END LOOP;
END $$;

CREATE SEQUENCE fences START 6;
CALL calm_rounds($$SELECT ringfence.guard('r', 5, 'a')$$, 0) \gset passed_
CALL calm_rounds($$SELECT ringfence.try_guard('r', 4, 'a')$$, 0) \gset refused_
CALL calm_rounds($$SELECT ringfence.guard('r', nextval('fences'), 'a')$$, 0) \gset newer_
BEGIN;
SELECT ringfence.guard('r', ringfence.high_water('r'), 'a');
SELECT pg_current_xact_id_if_assigned() IS NULL AS none \gset
SELECT cmp_ok(:passed_calm, '>', 0, 'none for a fence that is stored');
SELECT cmp_ok(:refused_calm, '>', 0, 'none for one that is refused');
SELECT is(:newer_calm, 0, 'some for one that is newer');
SELECT is(:'none'::boolean, true,
    'nor does one that is stored need a transaction number');

SELECT * FROM finish();
ROLLBACK;
