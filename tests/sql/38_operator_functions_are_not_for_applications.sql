-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(5);

CREATE ROLE rf_38;
SELECT ringfence.grant_to('rf_38');
CREATE FUNCTION try(statement text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
SET LOCAL ROLE rf_38;
CREATE TEMP TABLE tried AS
    SELECT statement, try(statement) AS result FROM (VALUES
        ($$SELECT ringfence.reset('r', 1)$$),
        ($$SELECT ringfence.retire('0')$$),
        ($$SELECT ringfence.expire_receipts('0')$$),
        ($$DELETE FROM ringfence.receipts$$),
        ($$UPDATE ringfence.retired SET fence = 0$$)) AS v (statement);
RESET ROLE;
SELECT is(result, '42501', statement) FROM tried;

SELECT * FROM finish();
ROLLBACK;
