-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(2);

CREATE FUNCTION mislabelled() RETURNS boolean
LANGUAGE plpgsql PARALLEL SAFE AS
    $$BEGIN RETURN ringfence.guard('r', 5, 'a'); END$$;
-- The same setting by two names: PostgreSQL 16 renamed it.
SELECT set_config(name, 'on', true) FROM pg_settings
 WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT throws_ok('SELECT mislabelled()',
    'RF005', 'protection is set up wrongly',
    'by a function that claims to be safe there');
SELECT ok(ringfence.guard('r', 5, 'a'), 'the guard itself is never sent there');

SELECT * FROM finish();
ROLLBACK;
