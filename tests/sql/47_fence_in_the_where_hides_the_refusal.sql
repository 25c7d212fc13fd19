-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 8
BEGIN;
SELECT plan(2);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10);
SELECT ringfence.protect('stock', 'fence');

SELECT is_empty(
    $$UPDATE stock SET fence = 4, left_over = 9 WHERE fence <= 4 RETURNING 1$$,
    'a comparison in the WHERE touches no row, and raises nothing');
SELECT isnt_empty(
    $$UPDATE stock SET fence = 6, left_over = 9 WHERE fence <= 6 RETURNING 1$$,
    'with the newest fence it touches its row');

SELECT * FROM finish();
ROLLBACK;
