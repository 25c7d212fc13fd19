-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 41
BEGIN;
SELECT plan(2);

SELECT set_eq(
    $$SELECT t.conf::regclass::text, t.filter
      FROM pg_extension e, unnest(e.extconfig, e.extcondition) t (conf, filter)
      WHERE e.extname = 'ringfence'
          AND t.conf::regclass::text IN ('ringfence.registry',
              'ringfence.protection')$$,
    $$VALUES ('ringfence.registry', ''), ('ringfence.protection', '')$$,
    'registry and record are dumped whole');
SELECT is_empty(
    'SELECT 1 FROM ringfence.registry UNION SELECT 1 FROM ringfence.protection',
    'and are empty when the extension is made, so nothing collides');

SELECT * FROM finish();
ROLLBACK;
