-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 2
BEGIN;
SELECT plan(4);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10);
SELECT ringfence.protect('stock', 'fence');
SELECT lives_ok($$UPDATE stock SET fence = fence$$,
    'by column alone it passes: the pair of rows does not show it');
SELECT lives_ok($$UPDATE stock SET fence = fence + 1$$,
    'by column alone it passes when raised, too');

SELECT ringfence.protect('stock', 'fence', 'stock:{sku}');
SELECT ringfence.guard('stock:a', 7, 'holder');
SELECT throws_ok($$UPDATE stock SET fence = fence$$,
    'RF003', 'write is not fenced',
    'with a resource, only the claimed fence passes');
SELECT lives_ok(
    $$UPDATE stock SET fence = ringfence.fence('stock:a')$$,
    'and the claimed one does');

SELECT * FROM finish();
ROLLBACK;
