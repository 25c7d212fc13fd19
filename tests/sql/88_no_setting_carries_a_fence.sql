-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 53
BEGIN;
SELECT current_setting('server_version_num')::int < 150000 AS no_prefix \gset
SELECT plan(3);

CREATE TABLE line (sku text);
SELECT ringfence.protect('line', resource => 'line:{sku}');
SELECT results_eq(
    $$SELECT name FROM pg_settings WHERE name LIKE 'ringfence.%'$$,
    $$VALUES ('ringfence.max_fence')$$,
    'the ceiling is the only setting: nothing to leak, nothing to forge');
\if :no_prefix
SELECT lives_ok($$SET ringfence.token = '7'$$,
    'before PostgreSQL 15 others can be made up, and nobody looks at them');
\else
SELECT throws_ok($$SET ringfence.token = '7'$$, '42602', NULL,
    'others can''t be made up');
\endif
SELECT throws_ok($$INSERT INTO line VALUES ('a')$$, 'RF003', NULL,
    'only a claim opens the table');

SELECT * FROM finish();
ROLLBACK;
