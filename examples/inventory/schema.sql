-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- What the inventory service works on.  Every row belongs to a resource, the
-- article's, and nothing is written by a program that has not claimed it.
CREATE EXTENSION IF NOT EXISTS ringfence;
CREATE TABLE stock (
    sku      text PRIMARY KEY,
    free     int NOT NULL CHECK (free >= 0),
    reserved int NOT NULL CHECK (reserved >= 0)
);
CREATE TABLE reservation (
    number text NOT NULL,
    sku    text NOT NULL REFERENCES stock,
    count  int NOT NULL CHECK (count > 0),
    state  text NOT NULL CHECK (state IN ('reserved', 'shipped', 'cancelled')),
    PRIMARY KEY (number, sku)
);
SELECT ringfence.protect('stock', resource => 'stock:{sku}');
SELECT ringfence.protect('reservation', resource => 'stock:{sku}');
