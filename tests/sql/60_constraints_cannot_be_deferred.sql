-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 26
BEGIN;
SELECT plan(4);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint);
INSERT INTO stock VALUES ('a', 5);
CREATE TABLE line (sku text);
SELECT ringfence.protect('stock', 'fence');
SELECT ringfence.protect('line', resource => 'line:{sku}');
SET CONSTRAINTS ALL DEFERRED;

SELECT throws_ok('UPDATE stock SET fence = 4', 'RF001', NULL,
    'the seal judges at once');
SELECT throws_ok($$INSERT INTO line VALUES ('a')$$, 'RF003', NULL,
    'so does the trigger of a resource');
SELECT throws_ok('SET CONSTRAINTS "~ringfence_seal" DEFERRED', '42809', NULL,
    'nobody can put the seal off');
SELECT throws_ok('SET CONSTRAINTS "~ringfence_insert" DEFERRED', '42809',
    NULL, 'nor the trigger of a resource');

SELECT * FROM finish();
ROLLBACK;
