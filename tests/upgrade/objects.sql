-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- All that the extension consists of, one property a line, in an order that
-- does not depend on how it came to be. For tests/scripts/upgraded_is_like_fresh.sh.
\set QUIET on
\pset format unaligned
\pset tuples_only on
SET search_path = pg_catalog;

CREATE TEMP VIEW member AS
SELECT classid, objid FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ringfence');

-- The members, and what belongs to them without being one.
CREATE TEMP VIEW relation AS
SELECT c.* FROM pg_class c
WHERE EXISTS (SELECT FROM member m
    WHERE m.classid = 'pg_class'::regclass
        AND m.objid IN (c.oid, (SELECT indrelid FROM pg_index
            WHERE indexrelid = c.oid))
    OR m.classid = 'pg_type'::regclass
        AND m.objid = c.reltype AND c.relkind = 'c');

CREATE TEMP VIEW object AS
SELECT classid, objid FROM member
UNION SELECT 'pg_class'::regclass, oid FROM relation
UNION SELECT 'pg_constraint'::regclass, o.oid
    FROM pg_constraint o JOIN relation r ON r.oid = o.conrelid
UNION SELECT 'pg_trigger'::regclass, o.oid
    FROM pg_trigger o JOIN relation r ON r.oid = o.tgrelid
UNION SELECT 'pg_policy'::regclass, o.oid
    FROM pg_policy o JOIN relation r ON r.oid = o.polrelid
UNION SELECT 'pg_rewrite'::regclass, o.oid
    FROM pg_rewrite o JOIN relation r ON r.oid = o.ev_class
UNION SELECT 'pg_namespace'::regclass, extnamespace
    FROM pg_extension WHERE extname = 'ringfence'
UNION SELECT 'pg_extension'::regclass, oid
    FROM pg_extension WHERE extname = 'ringfence';

-- Privileges in the order of their names, however they were given.
CREATE FUNCTION pg_temp.acl(acl aclitem[]) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(a::text, ' ' ORDER BY a::text), 'default')
    FROM unnest(acl) a
$$;

CREATE TEMP VIEW property AS
SELECT pg_describe_object(classid, objid, 0) AS name,
    'is there' AS property, '' AS value FROM object
UNION ALL
SELECT pg_describe_object(classid, objid, 0), 'is a member', '' FROM member
UNION ALL
SELECT pg_describe_object(d.classoid, d.objoid, d.objsubid), 'comment',
    d.description
FROM pg_description d
JOIN object o ON o.classid = d.classoid AND o.objid = d.objoid
UNION ALL
SELECT pg_describe_object(i.classoid, i.objoid, i.objsubid),
    'initial privileges', pg_temp.acl(i.initprivs)
FROM pg_init_privs i
JOIN object o ON o.classid = i.classoid AND o.objid = i.objoid
UNION ALL
SELECT pg_describe_object('pg_proc'::regclass, p.oid, 0), 'definition',
    concat_ws(E'\n', pg_get_functiondef(p.oid), p.proowner::regrole,
        pg_temp.acl(p.proacl))
FROM pg_proc p
JOIN object o ON o.classid = 'pg_proc'::regclass AND o.objid = p.oid
UNION ALL
SELECT pg_describe_object('pg_class'::regclass, r.oid, 0), 'definition',
    concat_ws(' ', r.relkind, r.relpersistence, r.relreplident,
        (SELECT amname FROM pg_am WHERE oid = r.relam), r.reloptions,
        r.relrowsecurity, r.relforcerowsecurity, r.reltablespace,
        r.relowner::regrole, pg_temp.acl(r.relacl),
        CASE r.relkind WHEN 'v' THEN pg_get_viewdef(r.oid)
            WHEN 'i' THEN pg_get_indexdef(r.oid) END)
FROM relation r
UNION ALL
SELECT pg_describe_object('pg_class'::regclass, r.oid, a.attnum), 'definition',
    concat_ws(' ',
        rank() OVER (PARTITION BY r.oid ORDER BY a.attnum),
        format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
        a.attgenerated, a.attstorage, a.attstattarget,
        -- pg_attver: a number that recent servers give by themselves.
        ARRAY(SELECT o FROM unnest(a.attoptions) o
            WHERE o NOT LIKE 'pg\_attver=%' ORDER BY 1),
        a.attcollation::regcollation, pg_temp.acl(a.attacl),
        (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d
            WHERE d.adrelid = r.oid AND d.adnum = a.attnum))
FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid
WHERE a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT pg_describe_object('pg_constraint'::regclass, c.oid, 0), 'definition',
    concat_ws(' ', c.contype, c.convalidated, pg_get_constraintdef(c.oid))
FROM pg_constraint c JOIN relation r ON r.oid = c.conrelid
UNION ALL
SELECT pg_describe_object('pg_trigger'::regclass, t.oid, 0), 'definition',
    concat_ws(' ', t.tgenabled, pg_get_triggerdef(t.oid))
FROM pg_trigger t JOIN relation r ON r.oid = t.tgrelid
UNION ALL
SELECT pg_describe_object('pg_rewrite'::regclass, w.oid, 0), 'definition',
    concat_ws(' ', w.ev_enabled, pg_get_ruledef(w.oid))
FROM pg_rewrite w JOIN relation r ON r.oid = w.ev_class
UNION ALL
SELECT pg_describe_object('pg_type'::regclass, t.oid, 0), 'definition',
    concat_ws(' ', t.typtype, t.typowner::regrole, pg_temp.acl(t.typacl),
        nullif(t.typbasetype, 0)::regtype, t.typnotnull, t.typdefault)
FROM pg_type t
JOIN object o ON o.classid = 'pg_type'::regclass AND o.objid = t.oid
UNION ALL
SELECT pg_describe_object('pg_namespace'::regclass, n.oid, 0), 'definition',
    concat_ws(' ', n.nspowner::regrole, pg_temp.acl(n.nspacl))
FROM pg_namespace n
JOIN object o ON o.classid = 'pg_namespace'::regclass AND o.objid = n.oid
UNION ALL
SELECT 'extension ringfence', 'definition',
    concat_ws(' ', e.extversion, e.extrelocatable, e.extnamespace::regnamespace)
FROM pg_extension e WHERE e.extname = 'ringfence'
UNION ALL
SELECT pg_describe_object('pg_class'::regclass, u.id, 0), 'is dumped', u.filter
FROM pg_extension e, unnest(e.extconfig, e.extcondition) u(id, filter)
WHERE e.extname = 'ringfence'
UNION ALL
-- What this file does not know how to look at must not pass as equal.
SELECT pg_describe_object(classid, objid, 0),
    'of an unknown kind, see tests/upgrade/objects.sql', random()::text
FROM object WHERE classid NOT IN ('pg_proc'::regclass, 'pg_class'::regclass,
    'pg_type'::regclass, 'pg_constraint'::regclass, 'pg_trigger'::regclass,
    'pg_rewrite'::regclass, 'pg_namespace'::regclass, 'pg_extension'::regclass)
UNION ALL
SELECT pg_describe_object('pg_type'::regclass, t.oid, 0),
    'of an unknown kind, see tests/upgrade/objects.sql', random()::text
FROM pg_type t
JOIN object o ON o.classid = 'pg_type'::regclass AND o.objid = t.oid
WHERE t.typtype NOT IN ('b', 'c');

SELECT name || ': ' || property || ': ' || replace(value, E'\n', E'\n    ')
FROM property ORDER BY (name || ': ' || property || value) COLLATE "C";

-- What an installation puts into its tables.
SELECT format('SELECT %L || t::text FROM %s t ORDER BY 1',
    'row of ' || oid::regclass || ': ', oid::regclass)
FROM relation WHERE relkind = 'r' ORDER BY relname \gexec
