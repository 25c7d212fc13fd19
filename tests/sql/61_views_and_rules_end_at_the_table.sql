-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 27
BEGIN;
SELECT plan(6);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10);
CREATE VIEW narrow AS SELECT sku, left_over FROM stock;
CREATE VIEW wide AS SELECT * FROM stock;
SELECT ringfence.protect('stock', 'fence');

SELECT throws_ok('UPDATE narrow SET left_over = 1', 'RF003', NULL,
    'a view without the fence column has no way past it');
SELECT throws_ok('UPDATE wide SET fence = 4', 'RF001', NULL,
    'a view with it is judged');
SELECT lives_ok('UPDATE wide SET fence = 6', 'and can be used');
SELECT throws_ok($$SELECT ringfence.protect('wide', 'fence')$$,
    'RF005', NULL, 'a view itself is not protected');

CREATE RULE quiet AS ON UPDATE TO stock DO INSTEAD NOTHING;
SELECT is(problem || '; ' || remedy, 'rule quiet rewrites writes before any '
        'trigger sees them; DROP RULE quiet ON public.stock',
    'audit finds a rule') FROM ringfence.audit() WHERE severity = 'critical';
DROP RULE quiet ON stock;
SELECT is_empty('SELECT * FROM ringfence.audit()',
    'and nothing once it is gone');

SELECT * FROM finish();
ROLLBACK;
