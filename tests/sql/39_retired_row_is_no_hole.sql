-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(8);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint);
SELECT ringfence.protect('stock', 'fence', 'stock:{sku}');
COMMIT;
BEGIN;
SELECT ringfence.guard('stock:a', 5, 'h'), ringfence.guard('stock:b', 9, 'h');
INSERT INTO stock VALUES ('a', 5), ('b', 9);
UPDATE ringfence.registry SET claimed_at = now() - interval '2 hours';
COMMIT;
BEGIN;
SELECT is(ringfence.retire('1 hour'), 2, 'two are retired');
SELECT is_empty('SELECT * FROM ringfence.audit()',
    'their rows are not above the floor');

UPDATE ringfence.retired SET fence = 8;
SELECT results_eq('SELECT severity, problem FROM ringfence.audit()',
    $$VALUES ('critical', 'resource ''stock:b'' has fence 0 in the registry,'
        ' and 9 in the table')$$,
    'a floor that went down is found, by the row above it');
SELECT lives_ok(remedy, 'its remedy runs') FROM ringfence.audit();
SELECT is_empty('SELECT * FROM ringfence.audit()', 'and mends it');

-- Above the floor or not, a row in the registry speaks for itself.
UPDATE ringfence.registry SET fence = 3 WHERE resource = 'stock:b';
CREATE TEMP TABLE found AS SELECT remedy FROM ringfence.audit();
SELECT ringfence.guard('stock:b', 12, 'new');
SELECT lives_ok(remedy, 'a remedy that comes too late') FROM found;
SELECT is(fence || ' ' || holder, '12 new', 'leaves a newer claim alone')
FROM ringfence.registry WHERE resource = 'stock:b';
UPDATE ringfence.retired SET fence = 20;
UPDATE ringfence.registry SET fence = 4 WHERE resource = 'stock:b';
SELECT is(count(*), 1::bigint, 'one that went down is found below the floor')
FROM ringfence.audit();

SELECT * FROM finish();
ROLLBACK;
