-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 43
BEGIN;
SELECT plan(6);

CREATE TABLE stock (sku text, fence bigint);
INSERT INTO stock VALUES ('a', 5);
SELECT ringfence.protect('stock', 'fence');
CREATE TABLE stock_new (LIKE stock INCLUDING ALL);
ALTER TABLE stock RENAME TO stock_old;
ALTER TABLE stock_new RENAME TO stock;

SELECT results_eq(
    $$SELECT DISTINCT object FROM ringfence.audit()
      WHERE severity = 'critical'$$,
    $$VALUES ('public.stock')$$, 'the new table of the old name is found');
SELECT is(problem || '; ' || remedy, 'has triggers of a protection that is '
        'not recorded: renamed, or restored without the record; '
        'SELECT ringfence.protect(''public.stock_old'', ''fence'', NULL)',
    'so is the old one, which no record has')
FROM ringfence.audit() WHERE object = 'public.stock_old';
SELECT throws_ok('UPDATE stock_old SET sku = sku', 'RF003', NULL,
    'which is still protected');
SELECT lives_ok(remedy, 'each remedy runs')
FROM (SELECT DISTINCT remedy FROM ringfence.audit()) r;
SELECT is_empty('SELECT * FROM ringfence.audit()', 'and all is mended');

SELECT * FROM finish();
ROLLBACK;
