-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 36
BEGIN;
SELECT current_setting('server_version_num')::int < 150000 AS no_grant \gset
\if :no_grant
SELECT plan(1);
SELECT throws_ok('GRANT SET ON PARAMETER session_replication_role TO PUBLIC',
    '42601', NULL, 'before PostgreSQL 15 a superuser alone may set it');
SELECT * FROM finish();
ROLLBACK;
\q
\endif
SELECT plan(4);

CREATE ROLE rf_bypass;
GRANT SET ON PARAMETER session_replication_role TO rf_bypass;
SELECT is(problem, 'rf_bypass may set it, and is then only compared',
    'a role that may set session_replication_role is found')
FROM ringfence.audit();
SELECT is(severity, 'critical', 'as a hole') FROM ringfence.audit();
SELECT lives_ok(remedy, 'the remedy runs') FROM ringfence.audit();
SELECT is_empty('SELECT * FROM ringfence.audit()', 'and mends it');

SELECT * FROM finish();
ROLLBACK;
