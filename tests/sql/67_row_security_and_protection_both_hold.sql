-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 34
BEGIN;
SELECT plan(5);

CREATE ROLE rf_teller;
CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, shop text);
INSERT INTO stock VALUES ('a', 5, 'mine'), ('b', 5, 'other');
ALTER TABLE stock ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON stock USING (shop = 'mine');
GRANT SELECT, INSERT, UPDATE, DELETE ON stock TO rf_teller;
SELECT ringfence.grant_to('rf_teller');
SELECT ringfence.protect('stock', 'fence', 'stock:{sku}');
GRANT ALL ON ALL FUNCTIONS IN SCHEMA public TO rf_teller;
SET ROLE rf_teller;

SELECT ringfence.guard('stock:a', 7, 'h');
SELECT ringfence.guard('stock:b', 7, 'h');
SELECT lives_ok('UPDATE stock SET fence = 7', 'rows in sight are written');
SELECT throws_ok($$UPDATE stock SET fence = 7, shop = 'other'$$, '42501',
    NULL, 'the policy''s check holds');
SELECT throws_ok(
    $$INSERT INTO stock VALUES ('b', 7, 'mine') ON CONFLICT (sku)
      DO UPDATE SET fence = EXCLUDED.fence$$,
    '42501', NULL, 'a conflict with a row out of sight is the policy''s error');
SELECT throws_ok('UPDATE stock SET fence = 6', 'RF003', NULL,
    'and the claim is needed all the same');
RESET ROLE;
SELECT results_eq('SELECT * FROM stock ORDER BY sku',
    $$VALUES ('a', 7::bigint, 'mine'), ('b', 5, 'other')$$,
    'rows out of sight are untouched');

SELECT * FROM finish();
ROLLBACK;
