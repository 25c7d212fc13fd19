-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 6
BEGIN;
SELECT plan(2);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10);
CREATE FUNCTION skip_row() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RETURN NULL; END';
CREATE TRIGGER a_skip BEFORE UPDATE ON stock
    FOR EACH ROW EXECUTE FUNCTION skip_row();
SELECT ringfence.protect('stock', 'fence');

SELECT lives_ok($$UPDATE stock SET fence = 4, left_over = 9$$,
    'a row that another trigger skips is not written, so not refused');
SELECT results_eq('SELECT fence, left_over FROM stock',
    'VALUES (5::bigint, 10)', 'it stays as it was');

SELECT * FROM finish();
ROLLBACK;
