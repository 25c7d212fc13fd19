-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 19
-- Two transactions that begin alike: the first is let through and fails, the
-- second deletes the same row.
CREATE TABLE stock (region text, sku text, fence bigint)
    PARTITION BY LIST (region);
CREATE TABLE eu PARTITION OF stock FOR VALUES IN ('eu');
CREATE TABLE us PARTITION OF stock (CHECK (fence < 10)) FOR VALUES IN ('us');
INSERT INTO stock VALUES ('eu', 'a', 9);
DO $$BEGIN PERFORM ringfence.protect('stock', 'fence'); END$$;

\set ON_ERROR_STOP 0
UPDATE stock SET region = 'us', fence = 10;
\set move :SQLSTATE
DELETE FROM stock;
\set delete :SQLSTATE
\set ON_ERROR_STOP 1

BEGIN;
SELECT plan(3);
SELECT is(:'move'::text, '23514', 'a move can fail for other reasons');
SELECT is(:'delete'::text, 'RF003', 'a DELETE after it is refused all the same');
SELECT results_eq('TABLE stock', $$VALUES ('eu', 'a', 9::bigint)$$,
    'the row is there');
SELECT * FROM finish();
ROLLBACK;
