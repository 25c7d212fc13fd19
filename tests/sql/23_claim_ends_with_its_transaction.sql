-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(5);

SELECT ringfence.guard('r', 5, 'a');
COMMIT;
BEGIN;
SELECT throws_ok($$SELECT ringfence.fence('r')$$, 'RF006', NULL,
    'after a commit');
COMMIT;
BEGIN;
SELECT ringfence.guard('r', 5, 'a');
ROLLBACK;
BEGIN;
SELECT throws_ok($$SELECT ringfence.fence('r')$$, 'RF006', NULL,
    'after a rollback');
COMMIT;
BEGIN;
SELECT ringfence.guard('r', 5, 'a');
PREPARE TRANSACTION 'rf_23';
BEGIN;
SELECT throws_ok($$SELECT ringfence.fence('r')$$, 'RF006', NULL,
    'after a prepare');
COMMIT;
COMMIT PREPARED 'rf_23';

CREATE PROCEDURE two_transactions(INOUT codes text)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM ringfence.guard('r', 5, 'a');
    codes := codes || ringfence.fence('r');
    COMMIT;
    BEGIN
        PERFORM ringfence.fence('r');
    EXCEPTION WHEN OTHERS THEN
        codes := codes || SQLSTATE;
    END;
END $$;
CALL two_transactions('') \gset
BEGIN;
SELECT is(:'codes'::text, '5RF006', 'after a commit inside a procedure');
SELECT is(count(*), 0::bigint, 'no lock is left')
    FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();

SELECT * FROM finish();
ROLLBACK;
