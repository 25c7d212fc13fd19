-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 36, case 40
BEGIN;
SELECT plan(5);

CREATE TABLE stock (sku text, fence bigint);
INSERT INTO stock VALUES ('a', 5);
SELECT ringfence.protect('stock', 'fence');
SELECT is_empty(
    $$SELECT tgname FROM pg_trigger WHERE tgrelid = 'stock'::regclass
      AND tgenabled <> 'A'$$,
    'all triggers fire always');

-- What a data-only restore with --disable-triggers leaves behind.
ALTER TABLE stock DISABLE TRIGGER ALL;
ALTER TABLE stock ENABLE TRIGGER ALL;
SELECT results_eq(
    $$SELECT DISTINCT severity, regexp_replace(problem, '".*"', 'of ours')
      FROM ringfence.audit()$$,
    $$VALUES ('warning', 'trigger of ours does not fire when '
        'session_replication_role is replica')$$,
    'ALWAYS that has become ORIGIN is found');
SELECT throws_ok('UPDATE stock SET fence = 4', 'RF001', NULL,
    'in the usual role they do fire');
SELECT ringfence.protect('stock', 'fence');
SELECT is_empty('SELECT * FROM ringfence.audit()',
    'protect() again mends it');
SET LOCAL session_replication_role = replica;
SELECT throws_ok('UPDATE stock SET fence = 4', 'RF001', NULL,
    'and in the other role, too');

SELECT * FROM finish();
ROLLBACK;
