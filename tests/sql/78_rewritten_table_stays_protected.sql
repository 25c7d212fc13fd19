-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 44
CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10);
DO $$BEGIN PERFORM ringfence.protect('stock', 'fence'); END$$;
VACUUM FULL stock;
CLUSTER stock USING stock_pkey;
ALTER TABLE stock ADD COLUMN at timestamptz DEFAULT clock_timestamp();

BEGIN;
SELECT plan(4);
SELECT throws_ok('UPDATE stock SET left_over = 1', 'RF003', NULL,
    'after VACUUM FULL, CLUSTER and a rewrite the fence must be named');
SELECT throws_ok('UPDATE stock SET fence = 4', 'RF001', NULL,
    'and does not go back');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'nothing is to mend');
SELECT throws_ok('UPDATE stock SET sku = sku', 'RF003', NULL,
    'a tool''s update that changes nothing is refused as well');
SELECT * FROM finish();
ROLLBACK;
