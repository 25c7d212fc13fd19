-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 22
BEGIN;
SELECT plan(2);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10);
CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN
        UPDATE stock SET left_over = 0, fence = 6 WHERE sku = OLD.sku;
        RETURN NEW;
    END$$;
CREATE TRIGGER again BEFORE UPDATE ON stock FOR EACH ROW
    WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION again();
SELECT ringfence.protect('stock', 'fence');

SELECT throws_ok($$UPDATE stock SET fence = 6$$, '27000', NULL,
    'a trigger that writes its own row fails as it does without us');
DROP TRIGGER again ON stock;
SELECT lives_ok(
    $$UPDATE stock s SET fence = v.f FROM (VALUES (6), (7)) v(f)$$,
    'a row joined twice is written once');

SELECT * FROM finish();
ROLLBACK;
