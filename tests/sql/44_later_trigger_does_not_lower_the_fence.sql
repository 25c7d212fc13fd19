-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 5
BEGIN;
SELECT plan(4);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10);
CREATE TABLE leaves (region text, fence bigint, left_over int)
    PARTITION BY LIST (region);
CREATE TABLE leaf PARTITION OF leaves FOR VALUES IN ('eu');
INSERT INTO leaves VALUES ('eu', 5, 10);
CREATE FUNCTION lower_fence() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN NEW.fence := nullif(TG_ARGV[0], 'none'); RETURN NEW; END$$;
CREATE TRIGGER "~~~last" BEFORE UPDATE ON stock
    FOR EACH ROW EXECUTE FUNCTION lower_fence('3');
CREATE TRIGGER "~~~last" BEFORE UPDATE ON leaves
    FOR EACH ROW EXECUTE FUNCTION lower_fence('3');
SELECT ringfence.protect('stock', 'fence');
SELECT ringfence.protect('leaves', 'fence');

SELECT throws_ok($$UPDATE stock SET fence = 9$$,
    'RF001', 'fence is stale',
    'a later trigger that lowers the fence does not get it into the table');
SELECT throws_ok($$UPDATE leaves SET fence = 9$$,
    'RF001', 'fence is stale', 'nor into a partition');

DROP TRIGGER "~~~last" ON stock;
CREATE TRIGGER "~~~last" BEFORE UPDATE ON stock
    FOR EACH ROW EXECUTE FUNCTION lower_fence('none');
SELECT throws_ok($$UPDATE stock SET fence = 9$$,
    'RF004', 'argument is invalid', 'nor does one that clears it');
SELECT results_eq('SELECT fence FROM stock UNION ALL SELECT fence FROM leaves',
    'VALUES (5::bigint), (5)', 'the fences stand');

SELECT * FROM finish();
ROLLBACK;
