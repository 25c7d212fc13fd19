-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(6);

CREATE FUNCTION pg_temp.parts(statement text) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
    primary_text text;
    detail text;
    hint text;
BEGIN
    EXECUTE statement;
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS primary_text = MESSAGE_TEXT,
        detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN ARRAY[primary_text, detail, hint];
END $$;

SELECT ringfence.guard('inventory:sku-42', 12, 'new');
CREATE TEMP TABLE said AS
SELECT pg_temp.parts($$SELECT ringfence.guard('inventory:sku-42', 11, 'old')$$) AS stale,
    pg_temp.parts($$SELECT ringfence.guard('inventory:sku-42', 12, 'old')$$) AS collision;

SELECT is(stale[1], 'fence is stale', 'primary text is constant') FROM said;
SELECT is(stale[2],
    'Resource "inventory:sku-42": fence 11 of holder "old" is below the stored fence 12 of holder "new".',
    'detail has resource, both fences and both holders') FROM said;
SELECT isnt(stale[3], '', 'hint says what to do') FROM said;
SELECT is(collision[1], 'fence belongs to another holder',
    'primary text is constant') FROM said;
SELECT is(collision[2],
    'Resource "inventory:sku-42": fence 12 of holder "old" is already stored for holder "new".',
    'detail has resource, fence and both holders') FROM said;
SELECT isnt(collision[3], '', 'hint says what to do') FROM said;

SELECT * FROM finish();
ROLLBACK;
