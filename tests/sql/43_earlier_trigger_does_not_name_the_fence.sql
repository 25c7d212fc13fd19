-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 4
BEGIN;
SELECT plan(2);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN NEW.fence := 9; RETURN NEW; END';
CREATE TRIGGER a_fill BEFORE UPDATE ON stock
    FOR EACH ROW EXECUTE FUNCTION fill();
SELECT ringfence.protect('stock', 'fence');

SELECT throws_ok($$UPDATE stock SET left_over = 9$$,
    'RF003', 'write is not fenced',
    'a trigger that fills the fence does not make the statement fenced');
SELECT results_eq('SELECT fence, left_over FROM stock',
    'VALUES (5::bigint, 10)', 'nothing was written');

SELECT * FROM finish();
ROLLBACK;
