-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- What protection costs for each row of an UPDATE of 200,000, above what the
-- UPDATE itself costs.  Pages have room for the new versions, and VACUUM clears
-- the old ones away between rounds: every round finds the table the same.

--: rounds 11
--: rows 200000
--: cost_above none

--: setup
CREATE FUNCTION refuse_lower() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.fence IS NULL OR NEW.fence < OLD.fence THEN
        RAISE EXCEPTION 'fence is stale';
    END IF;
    RETURN NEW;
END $$;
SELECT ringfence.guard('warehouse:' || i, 7, 'b5e1')
  FROM generate_series(0, 99) i;

--: each
CREATE TABLE "{name}" (id int PRIMARY KEY, place int NOT NULL, n bigint NOT NULL,
                     fence bigint NOT NULL, note text) WITH (fillfactor = 45);
INSERT INTO "{name}" SELECT i, i % 100, 0, 7, 'a row of ordinary size'
  FROM generate_series(1, 200000) i;

--: before
VACUUM "{name}";

--: statement
UPDATE "{name}" SET n = n + 1, fence = 7

--: theirs none

--: ours none_again none

--: theirs suppress_redundant
--: setup
CREATE TRIGGER z BEFORE UPDATE ON {name} FOR EACH ROW
EXECUTE FUNCTION suppress_redundant_updates_trigger();

--: theirs plpgsql
--: setup
CREATE TRIGGER z BEFORE UPDATE ON {name} FOR EACH ROW
EXECUTE FUNCTION refuse_lower();

--: ours column
--: setup
SELECT ringfence.protect('"column"', fence_column => 'fence');
--: statement
UPDATE "column" SET n = n + 1, fence = 7

--: ours resource
--: setup
SELECT ringfence.protect('resource', resource => 'warehouse:1');
--: statement
SELECT ringfence.guard('warehouse:1', 7, 'b5e1');
UPDATE resource SET n = n + 1, fence = 7

-- All rows of one resource.
--: ours template
--: setup
UPDATE template SET place = 1;
SELECT ringfence.protect('template', resource => 'warehouse:{place}');
--: statement
SELECT ringfence.guard('warehouse:1', 7, 'b5e1');
UPDATE template SET n = n + 1, fence = 7

-- A hundred resources, and each row of another one than the row before.
--: ours template_mixed
--: setup
SELECT ringfence.protect('template_mixed', resource => 'warehouse:{place}');
--: statement
SELECT count(ringfence.guard('warehouse:' || i, 7, 'b5e1'))
  FROM generate_series(0, 99) i;
UPDATE template_mixed SET n = n + 1, fence = 7

--: ours both
--: setup
UPDATE "both" SET place = 1;
SELECT ringfence.protect('"both"', fence_column => 'fence',
                         resource => 'warehouse:{place}');
--: statement
SELECT ringfence.guard('warehouse:1', 7, 'b5e1');
UPDATE "both" SET n = n + 1, fence = 7
