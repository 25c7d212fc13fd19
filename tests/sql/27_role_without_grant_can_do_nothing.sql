-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(14);

CREATE ROLE rf_27;
CREATE FUNCTION try(statement text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
CREATE TABLE statements (grp int, statement text);
INSERT INTO statements VALUES
    (1, $$SELECT ringfence.guard('r', 1)$$),
    (1, $$SELECT ringfence.try_guard('r', 1)$$),
    (1, $$SELECT ringfence.guard('r', 1), ringfence.fence('r')$$),
    (1, $$SELECT ringfence.high_water('r')$$),
    (2, $$SELECT ringfence.grant_to('rf_27')$$),
    (2, $$SELECT ringfence.stats()$$),
    (2, $$SELECT * FROM ringfence.registry$$),
    (2, $$INSERT INTO ringfence.registry VALUES ('r', 9, NULL, now())$$),
    (2, $$UPDATE ringfence.registry SET fence = 1$$),
    (2, $$DELETE FROM ringfence.registry$$);
GRANT SELECT ON statements TO rf_27;
SET LOCAL ROLE rf_27;
CREATE TEMP TABLE without AS
    SELECT *, try(statement) AS result FROM statements;
RESET ROLE;
SELECT ringfence.grant_to('rf_27');
SET LOCAL ROLE rf_27;
CREATE TEMP TABLE granted AS
    SELECT *, try(statement) AS result FROM statements;
RESET ROLE;

SELECT is(result, '42501', 'without: ' || statement)
    FROM without WHERE grp = 1;
SELECT is(result, 'ok', 'with: ' || statement) FROM granted WHERE grp = 1;
SELECT is(result, '42501', 'still not: ' || statement)
    FROM granted WHERE grp = 2;

SELECT * FROM finish();
ROLLBACK;
