-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- What sell_one.c and two_holders.c work on.
CREATE EXTENSION IF NOT EXISTS ringfence;
CREATE TABLE stock (sku text PRIMARY KEY, remaining int NOT NULL, fence bigint);
INSERT INTO stock VALUES ('apple', 100);
SELECT ringfence.protect('stock', fence_column => 'fence',
                         resource => 'stock:{sku}');
