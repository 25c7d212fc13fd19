-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 33
BEGIN;
SELECT plan(2);

CREATE TABLE stock (sku text, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10);
CREATE TABLE log (line text);
SELECT ringfence.protect('stock', 'fence');
DO $$
BEGIN
    INSERT INTO log VALUES ('before');
    BEGIN
        UPDATE stock SET left_over = 1, fence = 4;
        INSERT INTO log VALUES ('inside');
    EXCEPTION WHEN SQLSTATE 'RF001' THEN
        INSERT INTO log VALUES ('refused');
    END;
END
$$;
SELECT results_eq('TABLE stock', $$VALUES ('a', 5::bigint, 10)$$,
    'who catches the error has still not written');
SELECT results_eq('TABLE log', $$VALUES ('before'), ('refused')$$,
    'what else he writes is his own affair');

SELECT * FROM finish();
ROLLBACK;
