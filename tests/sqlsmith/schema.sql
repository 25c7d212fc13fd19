-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- What sqlsmith is let loose on: a table of every kind of protection, all
-- functions, and values of all types that these take.
\set ON_ERROR_STOP on
CREATE EXTENSION ringfence;
CREATE ROLE smith LOGIN;
CREATE SCHEMA shop;
GRANT ALL ON SCHEMA shop TO smith;
SET search_path = shop, public;

CREATE TABLE by_column (sku text PRIMARY KEY, amount int, fence bigint);
CREATE TABLE by_resource (sku text, amount int, note text);
CREATE TABLE by_both (sku text, amount int, fence bigint);
CREATE TABLE parts (sku text, amount int, fence bigint)
    PARTITION BY LIST (sku);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
CREATE TABLE parts_other PARTITION OF parts DEFAULT;
CREATE TABLE parts_both (sku text, amount int, fence bigint)
    PARTITION BY RANGE (sku);
CREATE TABLE parts_both_low PARTITION OF parts_both
    FOR VALUES FROM (MINVALUE) TO ('b');
CREATE TABLE parts_both_high PARTITION OF parts_both
    FOR VALUES FROM ('b') TO (MAXVALUE);
CREATE TABLE observed (sku text PRIMARY KEY, amount int, fence bigint);
CREATE TABLE observed_lines (sku text, amount int);
CREATE TABLE one_resource (amount int);
CREATE TABLE free (sku text, amount int, fence bigint);
CREATE VIEW seen AS SELECT sku, amount, fence FROM by_column WHERE amount > 0;

INSERT INTO by_column SELECT chr(96 + i), i, i FROM generate_series(1, 20) i;
INSERT INTO by_column VALUES ('none', 0, NULL);
INSERT INTO by_both TABLE by_column;
INSERT INTO parts TABLE by_column;
INSERT INTO parts_both TABLE by_column;
INSERT INTO observed TABLE by_column;
INSERT INTO by_resource SELECT sku, amount, 'x' FROM by_column;
INSERT INTO observed_lines SELECT sku, amount FROM by_column;
INSERT INTO free TABLE by_column;

DO $$BEGIN
    PERFORM ringfence.protect('by_column', 'fence');
    PERFORM ringfence.protect('by_resource', resource => 'item:{sku}');
    PERFORM ringfence.protect('by_both', 'fence', 'item:{sku}');
    PERFORM ringfence.protect('one_resource', resource => 'one');
    PERFORM ringfence.protect('parts', 'fence');
    PERFORM ringfence.protect('parts_both', 'fence', 'item:{sku}');
    PERFORM ringfence.protect('observed', 'fence', mode => 'observe');
    PERFORM ringfence.protect('observed_lines', resource => 'item:{sku}',
        mode => 'observe');
    PERFORM ringfence.guard('item:' || chr(96 + i), i, 'setup')
        FROM generate_series(1, 20) i;
END$$;

CREATE TABLE value (t text, n name, f bigint, i int, b boolean, age interval,
    tab regclass, o oid, who regrole, w ringfence.wanted_trigger);
INSERT INTO value VALUES
    ('item:a', 'fence', 5, 1, true, '1 hour', 'by_column', 'parts'::regclass,
        'smith'),
    ('item:{sku}', 'sku', 9007199254740991, 0, false, '0', 'parts',
        'parts_a'::regclass, 'postgres'),
    ('', '', -1, -1, NULL, '-1 day', 'seen', 0, NULL),
    (repeat('x', 10000), 'amount', 9223372036854775807, 2147483647, true,
        '178000000 years', 'pg_class', 4294967295, 'smith'),
    ('observe', NULL, 7, 100, false, '3 ms', 'free', 'by_both'::regclass,
        'smith'),
    (NULL, 'missing', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO value (w) SELECT w FROM ringfence.wanted_trigger w;
INSERT INTO value (w) VALUES
    (ROW(1, 'by_both'::regclass, 'sku', '{', '{missing, NULL}', NULL,
        '~ringfence_update', '', '{}', true)),
    (ROW(0, 0, '', '{missing}', '{}', true, '~ringfence_seal', '', NULL, NULL));

-- sqlsmith chooses functions by the type that they return, and there are
-- hundreds that return boolean or bigint. So that ours are chosen often, each is
-- there once more with a type that nothing else returns.
CREATE DOMAIN answer AS text;
CREATE TABLE answers (a answer, b answer, c answer);
INSERT INTO answers VALUES ('x', NULL, 'y');
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN
        SELECT p.proname AS name, (SELECT coalesce(
                string_agg(format_type(t, NULL), ', ' ORDER BY n), '')
                FROM unnest(p.proargtypes) WITH ORDINALITY a(t, n)) AS types,
            (SELECT coalesce(string_agg('$' || n, ', '), '')
                FROM generate_series(1, p.pronargs) n) AS passed
        FROM pg_proc p
        WHERE p.pronamespace = 'ringfence'::regnamespace
            AND p.prorettype <> 'trigger'::regtype AND p.provariadic = 0
    LOOP
        EXECUTE format('CREATE FUNCTION %I(%s) RETURNS answer LANGUAGE sql AS '
            '%L', 'ringfence_' || f.name, f.types,
            format('SELECT (SELECT max(x::text) FROM ringfence.%I(%s) x)::answer',
                f.name, f.passed));
    END LOOP;
END$$;

-- Of its own, so that protect() and unprotect() have something to work on.
CREATE TABLE smiths (sku text PRIMARY KEY, fence bigint);
ALTER TABLE smiths OWNER TO smith;

GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA shop TO smith;
SELECT ringfence.grant_to('smith');
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ringfence TO smith;
GRANT SELECT ON ALL TABLES IN SCHEMA ringfence TO smith;
ALTER ROLE smith SET statement_timeout = '2s';
ALTER ROLE smith SET lock_timeout = '1s';
ALTER ROLE smith SET search_path = shop, public;

-- What really became of the fences, written down by somebody else: a trigger
-- that fires after all others, for the role of replicas as well.
CREATE TABLE history (n bigserial, tab text, sku text, was bigint, became bigint);
CREATE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = shop, pg_temp AS $$
BEGIN
    INSERT INTO history (tab, sku, was, became) VALUES (TG_TABLE_NAME, NEW.sku,
        OLD.fence, NEW.fence);
    RETURN NULL;
END$$;
DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['by_column', 'by_both', 'parts', 'parts_both'] LOOP
        EXECUTE format('CREATE TRIGGER "~~remember" AFTER UPDATE ON %I '
            'FOR EACH ROW EXECUTE FUNCTION remember()', t);
    END LOOP;
END$$;
CREATE TABLE claim (resource text, fence bigint); -- that the worker committed

-- As it should be found again.
CREATE TABLE hole AS SELECT * FROM ringfence.audit();
CREATE TABLE record AS SELECT * FROM ringfence.protection;
