-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- Triggers with our names, our functions and their arguments, and another WHEN,
-- time, event or column: each found, and mended by its remedy.
BEGIN;
SELECT current_setting('server_version_num')::int < 140000 AS by_row \gset
SELECT plan(41);

CREATE TABLE stock (sku text PRIMARY KEY, other text, fence bigint);
CREATE TABLE line (sku text, part int, fence bigint);
CREATE TABLE cash (n int);
CREATE TABLE parts (sku text, id int, fence bigint, PRIMARY KEY (sku, id))
    PARTITION BY LIST (sku);
-- Its columns are not where the root has them.
CREATE TABLE part (gone int, fence bigint NOT NULL, id int NOT NULL, sku text NOT NULL);
ALTER TABLE part DROP COLUMN gone;
ALTER TABLE part ALTER fence DROP NOT NULL;
ALTER TABLE parts ATTACH PARTITION part DEFAULT;
CREATE TABLE rows (sku text, fence bigint) PARTITION BY LIST (sku);
CREATE TABLE row PARTITION OF rows DEFAULT;
CREATE TABLE "odd ""name" ("a ""b" text, "Fence" bigint);
SELECT ringfence.protect('stock', 'fence');
SELECT ringfence.protect('line', 'fence', 'line:{sku}:{{{part}}}');
SELECT ringfence.protect('cash', resource => 'it''s cash');
SELECT ringfence.protect('parts', 'fence');
SELECT ringfence.protect('rows', 'fence', 'rows:{sku}');
SELECT ringfence.protect('"odd ""name"', 'Fence', 'odd:{a "b}');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'all is as it was made');
SELECT is_empty('SELECT * FROM ringfence.wanted_trigger w
    WHERE ringfence.trigger_is_right(w) IS NOT TRUE', 'trigger by trigger');

-- The trigger is dropped and made in another way; what audit says of it.
CREATE FUNCTION remade("table" regclass, name text, definition text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    EXECUTE format('DROP TRIGGER %I ON %s', name, "table");
    EXECUTE definition;
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', "table", name);
    SELECT severity || ': ' || problem INTO STRICT found FROM ringfence.audit();
    RETURN found;
END $$;
CREATE FUNCTION found(name text) RETURNS text LANGUAGE sql AS $$
    SELECT format('critical: trigger %I was made anew: with another WHEN, or '
        'for other events or columns', name)$$;
\ir mend.psql

SELECT is(remade('stock', '~ringfence_seal',
    $$CREATE CONSTRAINT TRIGGER "~ringfence_seal" AFTER UPDATE ON stock
      FOR EACH ROW WHEN (false)
      EXECUTE FUNCTION ringfence.column_seal('fence')$$),
    found('~ringfence_seal'), 'a WHEN that is never true');
SELECT ok(mend(), 'is mended');
INSERT INTO stock VALUES ('a', 'a', 5);
SELECT throws_ok('UPDATE stock SET fence = 4', 'RF001', NULL, 'and refuses again');
SELECT is(remade('stock', '~ringfence_seal',
    $$CREATE CONSTRAINT TRIGGER "~ringfence_seal" AFTER UPDATE ON stock
      FOR EACH ROW WHEN (NEW.fence IS NULL OR NEW.fence < OLD.fence)
      EXECUTE FUNCTION ringfence.column_seal('fence')$$),
    found('~ringfence_seal'), 'one that lets some more pass');
SELECT ok(mend(), 'is mended');
SELECT is(remade('stock', '~ringfence_seal',
    $$CREATE CONSTRAINT TRIGGER "~ringfence_seal" AFTER UPDATE ON stock
      FOR EACH ROW EXECUTE FUNCTION ringfence.column_seal('fence')$$),
    found('~ringfence_seal'), 'no WHEN at all');
SELECT ok(mend(), 'is mended');
SELECT is(remade('stock', '~ringfence_truncate',
    $$CREATE TRIGGER "~ringfence_truncate" AFTER TRUNCATE ON stock
      FOR EACH STATEMENT EXECUTE FUNCTION ringfence.truncate_statement('')$$),
    found('~ringfence_truncate'), 'after instead of before');
SELECT ok(mend(), 'is mended');
\if :by_row
SELECT is(remade('stock', '~ringfence_column',
    $$CREATE TRIGGER "~ringfence_column" BEFORE UPDATE ON stock
      FOR EACH ROW EXECUTE FUNCTION ringfence.column_row('fence', 'sku')$$),
    found('~ringfence_column'), 'without DELETE');
SELECT ok(mend(), 'is mended');
SELECT is(remade('stock', '~ringfence_column',
    $$CREATE TRIGGER "~ringfence_column" BEFORE UPDATE OF other OR DELETE ON stock
      FOR EACH ROW EXECUTE FUNCTION ringfence.column_row('fence', 'sku')$$),
    found('~ringfence_column'), 'for one column');
SELECT ok(mend(), 'is mended');
SELECT is(remade('stock', '~ringfence_column',
    $$CREATE TRIGGER "~ringfence_column" BEFORE UPDATE OR DELETE ON stock
      FOR EACH ROW WHEN (OLD.sku <> 'a')
      EXECUTE FUNCTION ringfence.column_row('fence', 'sku')$$),
    found('~ringfence_column'), 'not for all rows');
SELECT ok(mend(), 'is mended');
\else
SELECT is(remade('stock', '~ringfence_column',
    $$CREATE TRIGGER "~ringfence_column" BEFORE UPDATE OF other ON stock
      FOR EACH STATEMENT EXECUTE FUNCTION ringfence.column_statement('fence')$$),
    found('~ringfence_column'), 'for one column');
SELECT ok(mend(), 'is mended');
SELECT is(remade('stock', '~ringfence_delete',
    $$CREATE TRIGGER "~ringfence_delete" BEFORE DELETE ON stock
      FOR EACH ROW WHEN (OLD.sku <> 'a')
      EXECUTE FUNCTION ringfence.column_row('fence')$$),
    found('~ringfence_delete'), 'not for all rows');
SELECT ok(mend(), 'is mended');
SELECT is(remade('stock', '~ringfence_key',
    $$CREATE CONSTRAINT TRIGGER "~ringfence_key" AFTER UPDATE OF other ON stock
      FOR EACH ROW EXECUTE FUNCTION ringfence.column_key('sku')$$),
    found('~ringfence_key'), 'for another column');
SELECT ok(mend(), 'is mended');
\endif

SELECT is(remade('line', '~ringfence_insert',
    $$CREATE CONSTRAINT TRIGGER "~ringfence_insert" AFTER INSERT ON line
      FOR EACH ROW WHEN (NEW.fence IS NULL OR NEW.fence <> 3)
      EXECUTE FUNCTION ringfence.resource_row('line:{sku}:{{{part}}}', 'fence')$$),
    found('~ringfence_insert'), 'another WHEN');
SELECT ok(mend(), 'is mended');
SELECT is(remade('line', '~ringfence_insert',
    $$CREATE CONSTRAINT TRIGGER "~ringfence_insert" AFTER INSERT ON line
      FOR EACH ROW WHEN (ringfence.outdated('line:{sku}:{{{part}}}', NEW.fence,
          NEW.sku, NEW.part))
      EXECUTE FUNCTION ringfence.resource_row('line:{sku}:{{{part}}}', 'fence')$$),
    found('~ringfence_insert'), 'nearly the same WHEN');
SELECT ok(mend(), 'is mended');
SELECT is(remade('line', '~ringfence_delete',
    $$CREATE CONSTRAINT TRIGGER "~ringfence_delete" AFTER DELETE ON line
      DEFERRABLE FOR EACH ROW WHEN (ringfence.outdated('line:{sku}:{{{part}}}',
          OLD.fence, OLD.sku, OLD.part))
      EXECUTE FUNCTION ringfence.resource_row('line:{sku}:{{{part}}}', 'fence')$$),
    found('~ringfence_delete'), 'one that can be put off');
SELECT ok(mend(), 'is mended');
SELECT is(remade('line', '~ringfence_delete',
    $$CREATE TRIGGER "~ringfence_delete" AFTER DELETE ON line FOR EACH ROW
      WHEN (ringfence.outdated('line:{sku}:{{{part}}}', OLD.fence, OLD.sku,
          OLD.part))
      EXECUTE FUNCTION ringfence.resource_row('line:{sku}:{{{part}}}', 'fence')$$),
    found('~ringfence_delete'), 'one that can be replaced');
SELECT ok(mend(), 'is mended');
SELECT is(remade('cash', '~ringfence_resource',
    $$CREATE TRIGGER "~ringfence_resource" BEFORE UPDATE OR DELETE ON cash
      FOR EACH STATEMENT
      EXECUTE FUNCTION ringfence.resource_statement('it''s cash', '')$$),
    found('~ringfence_resource'), 'one event less');
SELECT ok(mend(), 'is mended');
SELECT is(remade('cash', '~ringfence_delete',
    $$CREATE CONSTRAINT TRIGGER "~ringfence_delete" AFTER DELETE OR UPDATE ON cash
      FOR EACH ROW WHEN (ringfence.unclaimed('it''s cash'))
      EXECUTE FUNCTION ringfence.resource_row('it''s cash', '')$$),
    found('~ringfence_delete'), 'one event more');
SELECT ok(mend(), 'is mended');
SELECT is(remade('row', '~ringfence_truncate',
    $$CREATE TRIGGER "~ringfence_truncate" BEFORE TRUNCATE ON row
      FOR EACH STATEMENT WHEN (false)
      EXECUTE FUNCTION ringfence.truncate_statement('rows:{sku}')$$),
    found('~ringfence_truncate'), 'a partition''s own');
SELECT ok(mend(), 'is mended');

-- With arguments of another protection it judges something else.
SELECT is(remade('stock', '~ringfence_seal',
    $$CREATE CONSTRAINT TRIGGER "~ringfence_seal" AFTER UPDATE ON stock
      FOR EACH ROW WHEN (NEW.fence IS NULL OR NEW.fence < OLD.fence)
      EXECUTE FUNCTION ringfence.column_seal('other')$$),
    'critical: trigger "~ringfence_seal" was made for other columns or another '
        'resource', 'one for another column');
SELECT ok(mend(), 'is mended');

-- On a partitioned table all its clones are.
DROP TRIGGER "~ringfence_seal" ON parts;
CREATE CONSTRAINT TRIGGER "~ringfence_seal" AFTER UPDATE ON parts
    FOR EACH ROW WHEN (NEW.fence < OLD.fence)
    EXECUTE FUNCTION ringfence.column_seal('fence');
SELECT set_eq(
    $$SELECT object FROM ringfence.audit() WHERE severity = 'critical'$$,
    $$VALUES ('public.parts'), ('public.part')$$, 'with all its partitions');
SELECT ok(mend(), 'is mended');

-- By itself, made exactly as protect() makes it, it is no other.
SELECT lives_ok($$
    DROP TRIGGER "~ringfence_delete" ON line;
    CREATE CONSTRAINT TRIGGER "~ringfence_delete" AFTER DELETE ON line
      NOT DEFERRABLE FOR EACH ROW
      WHEN (ringfence.outdated('line:{sku}:{{{part}}}', OLD.fence, OLD.sku,
          OLD.part))
      EXECUTE FUNCTION ringfence.resource_row('line:{sku}:{{{part}}}', 'fence');
    ALTER TABLE line ENABLE ALWAYS TRIGGER "~ringfence_delete"$$,
    'who makes the same one');
SELECT is_empty('SELECT * FROM ringfence.audit()', 'has changed nothing');

-- Where a column is gone, that is said, and nothing about its triggers.
ALTER TABLE line RENAME sku TO article;
ALTER TABLE line ADD sku date;
SELECT results_eq('SELECT problem FROM ringfence.audit()',
    $$VALUES ('column sku has a type whose text depends on settings: every '
        'write is refused')$$, 'a column that took the place of another');
ALTER TABLE line DROP sku;
ALTER TABLE line RENAME article TO sku;
ALTER TABLE line RENAME fence TO number;
ALTER TABLE line ADD fence text;
SELECT results_eq('SELECT problem FROM ringfence.audit()',
    $$VALUES ('column fence is no bigint of its own: every write is refused')$$,
    'one of another type');
ALTER TABLE line DROP fence;
ALTER TABLE line ADD fence bigint;
SELECT set_eq($$SELECT problem FROM ringfence.audit() WHERE severity = 'critical'$$,
    $$SELECT substr(found(n), 11) FROM unnest(ARRAY['~ringfence_insert',
        '~ringfence_update', '~ringfence_delete']) n$$,
    'one that is no other to see: the triggers look at the old one');
SELECT ok(mend(), 'is mended');

SELECT * FROM finish();
ROLLBACK;
