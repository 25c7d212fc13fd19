-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 35
BEGIN;
SELECT plan(1);

SELECT is_empty(
    $$SELECT proname FROM pg_proc
      WHERE pronamespace = 'ringfence'::regnamespace
          AND (proparallel <> 'u' OR provolatile <> 'v')
          AND prolang = (SELECT oid FROM pg_language WHERE lanname = 'c')$$,
    'no C function runs in a parallel worker, or is called less than asked');

SELECT * FROM finish();
ROLLBACK;
