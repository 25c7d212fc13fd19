-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 29
BEGIN;
SELECT plan(6);

CREATE TABLE stock (sku text, fence bigint);
CREATE TABLE whole (sku text, fence bigint) PARTITION BY LIST (sku);
SELECT ringfence.protect('stock', 'fence');
ALTER TABLE whole ATTACH PARTITION stock DEFAULT;
INSERT INTO whole VALUES ('a', 5);

SELECT throws_ok('UPDATE whole SET fence = 4', 'RF001', NULL,
    'by way of the whole no fence goes back');
SELECT is(remedy, 'ALTER TABLE public.whole DETACH PARTITION public.stock',
    'but the fence need not be named, which audit finds')
FROM ringfence.audit() WHERE severity = 'critical';
SELECT lives_ok($$SELECT ringfence.unprotect('stock')$$,
    'its own protection can be taken from it');
SELECT lives_ok($$SELECT ringfence.protect('whole', 'fence')$$,
    'and the whole be protected instead');
SELECT throws_ok('UPDATE whole SET sku = sku', 'RF003', NULL,
    'which then covers it');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'nothing is left to mend');

SELECT * FROM finish();
ROLLBACK;
