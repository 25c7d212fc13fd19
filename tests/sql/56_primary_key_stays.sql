-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 18
BEGIN;
SELECT plan(11);

CREATE TABLE stock (
    shop int, sku text, fence bigint, PRIMARY KEY (shop, sku));
INSERT INTO stock VALUES (1, 'a', 5);
CREATE TABLE plain (sku text, fence bigint);
INSERT INTO plain VALUES ('a', 5);
SELECT ringfence.protect('stock', 'fence');
SELECT ringfence.protect('plain', 'fence');

SELECT throws_ok($$UPDATE stock SET sku = 'b', fence = 6$$,
    'RF003', 'write is not fenced',
    'a new key would leave the old one free for a stale INSERT');
SELECT throws_ok($$UPDATE stock SET shop = shop + 1, fence = 6$$,
    'RF003', 'write is not fenced', 'in each of its columns');
SELECT lives_ok($$UPDATE stock SET shop = 1, sku = 'a', fence = 6$$,
    'a key written back as it was passes');
SELECT lives_ok($$UPDATE plain SET sku = 'b', fence = 6$$,
    'without a primary key there is nothing to keep');

SELECT ringfence.protect('stock', 'fence', 'stock:{sku}');
SELECT ringfence.guard('stock:a', 7, 'h');
SELECT throws_ok($$UPDATE stock SET sku = 'b', fence = 7$$,
    'RF003', 'write is not fenced',
    'with a resource the new one must be claimed as well');
SELECT ringfence.guard('stock:b', 3, 'h');
SELECT lives_ok(
    $$UPDATE stock SET sku = 'b', fence = ringfence.fence('stock:b')$$,
    'then the key changes, and the fence becomes that of the new resource');
SELECT results_eq('TABLE stock', $$VALUES (1, 'b', 3::bigint)$$,
    'the row is there with its new key');
SELECT throws_ok($$UPDATE stock SET sku = 'a', fence = 3$$,
    'RF003', 'write is not fenced', 'the way back is judged the same way');

-- A key that has lost its constraint is kept all the same.
CREATE TABLE loose (id int PRIMARY KEY, fence bigint);
SELECT ringfence.protect('loose', 'fence');
ALTER TABLE loose DROP CONSTRAINT loose_pkey, ALTER id DROP NOT NULL;
INSERT INTO loose VALUES (1, 5), (NULL, 5);
SELECT throws_ok('UPDATE loose SET id = NULL, fence = 6 WHERE id = 1',
    'RF003', 'write is not fenced', 'a key does not become NULL');
SELECT throws_ok('UPDATE loose SET id = 2, fence = 6 WHERE id IS NULL',
    'RF003', 'write is not fenced', 'nor does NULL become a key');
SELECT lives_ok('UPDATE loose SET id = NULL, fence = 6 WHERE id IS NULL',
    'a NULL written back passes');

SELECT * FROM finish();
ROLLBACK;
