-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 43
BEGIN;
SELECT plan(9);

CREATE SCHEMA shop;
CREATE TABLE stock (sku text, fence bigint);
INSERT INTO stock VALUES ('a', 5);
SELECT ringfence.protect('stock', 'fence', mode => 'observe');
ALTER TABLE stock SET SCHEMA shop;
ALTER TABLE shop.stock RENAME TO "Odd ""name""";

SELECT throws_ok($$UPDATE shop."Odd ""name""" SET fence = 4$$, 'RF001', NULL,
    'a renamed table is protected, and no longer merely observed');
SELECT set_eq('SELECT severity, object, problem FROM ringfence.audit()',
    $$VALUES ('critical', 'public.stock',
              'should be protected, and is not there: dropped or renamed'),
             ('notice', 'shop."Odd ""name"""',
              'has triggers of a protection that is not recorded: renamed, '
              'or restored without the record')$$,
    'both names are found');
SELECT is(triggers, 'missing', 'and shown in the list')
FROM ringfence.protected;
SELECT lives_ok(remedy, 'each remedy runs') FROM ringfence.audit();
SELECT is_empty('SELECT * FROM ringfence.audit()', 'and all is mended');
SELECT throws_ok('DROP EXTENSION ringfence', '2BP01', NULL,
    'the extension can''t be dropped from under a protected table');
SELECT lives_ok('DROP TABLE shop."Odd ""name"""', 'the table can');
SELECT is(object, 'shop."Odd ""name"""', 'which audit finds')
FROM ringfence.audit();

SELECT * FROM finish();
ROLLBACK;
