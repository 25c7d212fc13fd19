-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- What order.c works on, beside stock.sql: a table without a fence column,
-- protected by the resource that each row belongs to.
CREATE TABLE orders (number text PRIMARY KEY, sku text NOT NULL);
SELECT ringfence.protect('orders', resource => 'stock:{sku}');
