-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Everything that CREATE EXTENSION ringfence makes.

\echo Use "CREATE EXTENSION ringfence" to load this file. \quit

-- From here on nothing is found by being in the schema.
SET LOCAL search_path = pg_catalog, pg_temp;

-- A dump restores the schema before the extension, so it may be there: empty,
-- and a superuser's. Anybody else who owns it, may create in it, or has left
-- something there, could put an object of his own in the place of ours.
DO $$
DECLARE
    owner text;
    maker text;
    left_over text;
BEGIN
    SELECT pg_get_userbyid(n.nspowner) INTO owner
    FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner
    WHERE n.nspname = 'ringfence' AND NOT r.rolsuper;
    SELECT r.rolname INTO maker
    FROM pg_namespace n, aclexplode(n.nspacl) a JOIN pg_roles r ON r.oid = a.grantee
    WHERE n.nspname = 'ringfence' AND a.privilege_type = 'CREATE'
        AND NOT r.rolsuper;
    SELECT pg_describe_object(d.classid, d.objid, d.objsubid) INTO left_over
    FROM pg_depend d
    WHERE d.refclassid = 'pg_namespace'::regclass
        AND d.refobjid = 'ringfence'::regnamespace
        AND NOT (d.classid = 'pg_extension'::regclass AND d.objid IN
            (SELECT e.oid FROM pg_extension e WHERE e.extname = 'ringfence'));

    IF owner IS NOT NULL THEN
        RAISE EXCEPTION 'protection is set up wrongly' USING ERRCODE = 'RF005',
            DETAIL = format('Schema "ringfence" belongs to "%s", who is no '
                'superuser and could drop or replace what is in it.', owner),
            HINT = format('Look at what it is for. Then DROP SCHEMA ringfence, '
                'or ALTER SCHEMA ringfence OWNER TO %I.', current_user);
    ELSIF maker IS NOT NULL THEN
        RAISE EXCEPTION 'protection is set up wrongly' USING ERRCODE = 'RF005',
            DETAIL = format('"%s" may create objects in schema "ringfence".',
                maker),
            HINT = format('REVOKE CREATE ON SCHEMA ringfence FROM %I.', maker);
    ELSIF left_over IS NOT NULL THEN
        RAISE EXCEPTION 'protection is set up wrongly' USING ERRCODE = 'RF005',
            DETAIL = format('Schema "ringfence" is not empty: %s.', left_over),
            HINT = 'Look at what it is for. Then DROP SCHEMA ringfence CASCADE.';
    END IF;
END
$$;

REVOKE ALL ON SCHEMA ringfence FROM PUBLIC;

COMMENT ON SCHEMA ringfence IS
    'Refuses every write that does not come from the newest holder of a lock.';

-- ---- The guard ------------------------------------------------------------

CREATE TABLE ringfence.registry (
    resource text COLLATE pg_catalog."C" NOT NULL
        CONSTRAINT registry_pkey PRIMARY KEY,
    fence bigint NOT NULL,
    holder text,
    claimed_at timestamptz NOT NULL
) USING heap WITH (fillfactor = 70);

REVOKE ALL ON ringfence.registry FROM PUBLIC;

COMMENT ON TABLE ringfence.registry IS
    'The newest claim of each resource. Written by the guard alone.';
COMMENT ON COLUMN ringfence.registry.resource IS
    'The name of what is protected.';
COMMENT ON COLUMN ringfence.registry.fence IS
    'The newest fence; whatever is older is refused.';
COMMENT ON COLUMN ringfence.registry.holder IS
    'Whose fence it is; the same number from another holder is refused.';
COMMENT ON COLUMN ringfence.registry.claimed_at IS
    'When it was claimed.';

SELECT pg_catalog.pg_extension_config_dump('ringfence.registry', '');

CREATE FUNCTION ringfence.guard(
    resource text,
    fence bigint,
    holder text DEFAULT NULL,
    lease interval DEFAULT NULL,
    preempt boolean DEFAULT false
) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_guard';

REVOKE ALL ON FUNCTION
    ringfence.guard(text, bigint, text, interval, boolean) FROM PUBLIC;

COMMENT ON FUNCTION
    ringfence.guard(text, bigint, text, interval, boolean) IS
    'Claims the resource for this transaction, or fails when the grant is not the newest.';

CREATE FUNCTION ringfence.try_guard(
    resource text,
    fence bigint,
    holder text DEFAULT NULL,
    lease interval DEFAULT NULL,
    preempt boolean DEFAULT false
) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_try_guard';

REVOKE ALL ON FUNCTION
    ringfence.try_guard(text, bigint, text, interval, boolean) FROM PUBLIC;

COMMENT ON FUNCTION
    ringfence.try_guard(text, bigint, text, interval, boolean) IS
    'As guard(), but false when the grant is not the newest.';

CREATE FUNCTION ringfence.fence(resource text) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_fence';

REVOKE ALL ON FUNCTION ringfence.fence(text) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.fence(text) IS
    'The fence that this transaction has claimed for the resource.';

CREATE FUNCTION ringfence.high_water(resource text) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_high_water';

REVOKE ALL ON FUNCTION ringfence.high_water(text) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.high_water(text) IS
    'The newest fence stored for the resource, 0 if none is.';

CREATE TABLE ringfence.receipts (
    resource text COLLATE pg_catalog."C" NOT NULL,
    operation text COLLATE pg_catalog."C" NOT NULL,
    fence bigint NOT NULL,
    applied_at timestamptz NOT NULL,
    CONSTRAINT receipts_pkey PRIMARY KEY (resource, operation)
) USING heap;

REVOKE ALL ON ringfence.receipts FROM PUBLIC;

COMMENT ON TABLE ringfence.receipts IS
    'Operations that have been applied. Written by once() alone.';
COMMENT ON COLUMN ringfence.receipts.resource IS
    'The resource under whose claim it was applied.';
COMMENT ON COLUMN ringfence.receipts.operation IS
    'The name that the application gave it.';
COMMENT ON COLUMN ringfence.receipts.fence IS
    'The fence under which it was applied.';
COMMENT ON COLUMN ringfence.receipts.applied_at IS
    'When.';

SELECT pg_catalog.pg_extension_config_dump('ringfence.receipts', '');

CREATE FUNCTION ringfence.once(resource text, operation text) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_once';

REVOKE ALL ON FUNCTION ringfence.once(text, text) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.once(text, text) IS
    'True in the transaction that applies the operation, false when one has committed it.';

-- At most so many, so that no transaction grows with the table. NULL is no age;
-- least of all one that all receipts have reached.
CREATE FUNCTION ringfence.expire_receipts(
    older_than interval,
    at_most integer DEFAULT 10000
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text;
    expired integer;
BEGIN
    problem := CASE
        WHEN older_than IS NULL THEN 'The age is null.'
        WHEN older_than > interval '4000 years'
            THEN 'The age is above 4000 years.'
        WHEN older_than < interval '0' OR now() - older_than > now()
            THEN 'The age is negative.'
        WHEN at_most IS NULL THEN 'The number is null.'
        WHEN at_most NOT BETWEEN 1 AND 100000
            THEN format('The number is %s, not between 1 and 100000.', at_most)
        END;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'argument is invalid'
            USING ERRCODE = 'RF004', DETAIL = problem;
    END IF;
    DELETE FROM ringfence.receipts WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM ringfence.receipts r
        WHERE r.applied_at < now() - older_than LIMIT at_most));
    GET DIAGNOSTICS expired = ROW_COUNT;
    RETURN expired;
END
$$;

REVOKE ALL ON FUNCTION ringfence.expire_receipts(interval, integer) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.expire_receipts(interval, integer) IS
    'Deletes so many receipts older than that; their operations could be applied again.';

CREATE TABLE ringfence.retired (
    one boolean NOT NULL DEFAULT true
        CONSTRAINT retired_pkey PRIMARY KEY
        CONSTRAINT retired_one CHECK (one),
    fence bigint NOT NULL,
    raised_at timestamptz NOT NULL
) USING heap;

REVOKE ALL ON ringfence.retired FROM PUBLIC;

COMMENT ON TABLE ringfence.retired IS
    'The floor: no retired resource was above this fence. Written by retire() alone.';
COMMENT ON COLUMN ringfence.retired.one IS
    'There is one row at most.';
COMMENT ON COLUMN ringfence.retired.fence IS
    'A resource without a row in the registry accepts what is above.';
COMMENT ON COLUMN ringfence.retired.raised_at IS
    'When it was raised last.';

SELECT pg_catalog.pg_extension_config_dump('ringfence.retired', '');

CREATE FUNCTION ringfence.retire(older_than interval, at_most integer DEFAULT 1000)
RETURNS integer
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_retire';

REVOKE ALL ON FUNCTION ringfence.retire(interval, integer) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.retire(interval, integer) IS
    'Forgets resources that were claimed before that and are not in use; their fences stay refused.';

CREATE FUNCTION ringfence.reset(resource text, fence bigint) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_reset';

REVOKE ALL ON FUNCTION ringfence.reset(text, bigint) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.reset(text, bigint) IS
    'Sets the stored fence, up or down; returns what it was. For the administrator, and logged.';

CREATE FUNCTION ringfence.grant_to(role regrole) RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_grant_to';

REVOKE ALL ON FUNCTION ringfence.grant_to(regrole) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.grant_to(regrole) IS
    'Gives an application''s role what it needs, and no more.';

CREATE FUNCTION ringfence.stats(
    OUT server_wide boolean,
    OUT checks bigint,
    OUT advances bigint,
    OUT stale bigint,
    OUT collision bigint,
    OUT unfenced bigint,
    OUT observed bigint,
    OUT preempted bigint,
    OUT wait_ms double precision
)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_stats';

REVOKE ALL ON FUNCTION ringfence.stats() FROM PUBLIC;

COMMENT ON FUNCTION ringfence.stats() IS
    'What has been judged: by the whole server when preloaded, else by this session.';

-- ---- Locks, for those who need no other server -------------------------------

CREATE TABLE ringfence.leases (
    resource text COLLATE pg_catalog."C" NOT NULL
        CONSTRAINT leases_pkey PRIMARY KEY,
    fence bigint NOT NULL,
    holder text NOT NULL,
    expires_at timestamptz NOT NULL
) USING heap WITH (fillfactor = 50);

REVOKE ALL ON ringfence.leases FROM PUBLIC;

COMMENT ON TABLE ringfence.leases IS
    'The lock that each resource had last. Written by acquire(), renew() and release() alone.';
COMMENT ON COLUMN ringfence.leases.resource IS
    'The name of what is locked.';
COMMENT ON COLUMN ringfence.leases.fence IS
    'The number that came with the lock.';
COMMENT ON COLUMN ringfence.leases.holder IS
    'Who has it.';
COMMENT ON COLUMN ringfence.leases.expires_at IS
    'Until when, by this server''s clock; -infinity when it was given back.';

CREATE VIEW ringfence.locks AS
    SELECT resource, fence, holder,
           expires_at OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp() AS "left"
    FROM ringfence.leases
    WHERE expires_at OPERATOR(pg_catalog.>) pg_catalog.clock_timestamp();

REVOKE ALL ON ringfence.locks FROM PUBLIC;

COMMENT ON VIEW ringfence.locks IS
    'Who has which lock now, and how long it lasts unless it is renewed.';
COMMENT ON COLUMN ringfence.locks.resource IS
    'The name of what is locked.';
COMMENT ON COLUMN ringfence.locks.fence IS
    'The number that came with the lock.';
COMMENT ON COLUMN ringfence.locks.holder IS
    'Who has it.';
COMMENT ON COLUMN ringfence.locks."left" IS
    'What is left of its time.';

CREATE FUNCTION ringfence.acquire(
    resource text,
    holder text,
    ttl interval,
    floor bigint DEFAULT 0,
    OUT outcome text,
    OUT fence bigint,
    OUT left_ms bigint
)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_acquire';

REVOKE ALL ON FUNCTION ringfence.acquire(text, text, interval, bigint)
    FROM PUBLIC;

COMMENT ON FUNCTION ringfence.acquire(text, text, interval, bigint) IS
    'Takes the lock and claims it: granted, replayed (this holder has it), or busy and for how long.';

CREATE FUNCTION ringfence.reissue(
    resource text,
    fence bigint,
    holder text,
    floor bigint
) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_reissue';

REVOKE ALL ON FUNCTION ringfence.reissue(text, bigint, text, bigint)
    FROM PUBLIC;

COMMENT ON FUNCTION ringfence.reissue(text, bigint, text, bigint) IS
    'Raises the number of a lock that is still held above the floor; null when it is not.';

CREATE FUNCTION ringfence.renew(
    resource text,
    fence bigint,
    holder text,
    ttl interval,
    OUT renewed boolean,
    OUT taken boolean
)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_renew';

REVOKE ALL ON FUNCTION ringfence.renew(text, bigint, text, interval)
    FROM PUBLIC;

COMMENT ON FUNCTION ringfence.renew(text, bigint, text, interval) IS
    'Lets a lock that is still held live that long from now; taken: another has it.';

CREATE FUNCTION ringfence.release(
    resource text,
    fence bigint,
    holder text,
    OUT released boolean,
    OUT taken boolean
)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_release';

REVOKE ALL ON FUNCTION ringfence.release(text, bigint, text) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.release(text, bigint, text) IS
    'Gives back a lock that is still held, and wakes those who wait; taken: another has it.';

CREATE FUNCTION ringfence.force_release(
    resource text,
    fence bigint,
    reason text
) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_force_release';

REVOKE ALL ON FUNCTION ringfence.force_release(text, bigint, text) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.force_release(text, bigint, text) IS
    'Takes a lock from whoever has it under this fence. For the administrator, and logged.';

CREATE FUNCTION ringfence.listen(resource text) RETURNS text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_listen';

REVOKE ALL ON FUNCTION ringfence.listen(text) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.listen(text) IS
    'From the commit on this session is notified when the lock is given back; returns the channel.';

CREATE FUNCTION ringfence.unlisten(resource text) RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_unlisten';

REVOKE ALL ON FUNCTION ringfence.unlisten(text) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.unlisten(text) IS
    'Ends what listen() began.';

-- ---- Protected tables -----------------------------------------------------

CREATE TABLE ringfence.protection (
    table_schema name NOT NULL,
    table_name name NOT NULL,
    root_schema name NOT NULL,
    root_name name NOT NULL,
    fence_column name,
    resource text,
    mode text NOT NULL CONSTRAINT protection_mode_check
        CHECK (mode OPERATOR(pg_catalog.=) 'enforce'
            OR mode OPERATOR(pg_catalog.=) 'observe'),
    protected_by name NOT NULL,
    protected_at timestamptz NOT NULL,
    CONSTRAINT protection_pkey PRIMARY KEY (table_schema, table_name)
) USING heap;

REVOKE ALL ON ringfence.protection FROM PUBLIC;

COMMENT ON TABLE ringfence.protection IS
    'What should be protected, whether or not it is. Written by protect() and unprotect().';
COMMENT ON COLUMN ringfence.protection.table_schema IS
    'The table''s schema. Names, so that the record can be restored before or without its tables.';
COMMENT ON COLUMN ringfence.protection.table_name IS
    'The table, or a partition of one.';
COMMENT ON COLUMN ringfence.protection.root_schema IS
    'The schema of the table that was named in protect().';
COMMENT ON COLUMN ringfence.protection.root_name IS
    'The table that was named in protect(): the root of the partition tree.';
COMMENT ON COLUMN ringfence.protection.fence_column IS
    'The column that holds the row''s fence, if any.';
COMMENT ON COLUMN ringfence.protection.resource IS
    'The template of the row''s resource, if any.';
COMMENT ON COLUMN ringfence.protection.mode IS
    'enforce, or observe: writes are let through and reported.';
COMMENT ON COLUMN ringfence.protection.protected_by IS
    'The role that called protect().';
COMMENT ON COLUMN ringfence.protection.protected_at IS
    'When protect() was called last.';

SELECT pg_catalog.pg_extension_config_dump('ringfence.protection', '');

CREATE FUNCTION ringfence.column_statement() RETURNS trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'ringfence_column_statement';
REVOKE ALL ON FUNCTION ringfence.column_statement() FROM PUBLIC;
COMMENT ON FUNCTION ringfence.column_statement() IS
    'Trigger of protect(): refuses an UPDATE that does not name the fence column.';

CREATE FUNCTION ringfence.column_row() RETURNS trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'ringfence_column_row';
REVOKE ALL ON FUNCTION ringfence.column_row() FROM PUBLIC;
COMMENT ON FUNCTION ringfence.column_row() IS
    'Trigger of protect(): refuses a DELETE, and on partitioned tables a wrong row.';

CREATE FUNCTION ringfence.column_key() RETURNS trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'ringfence_column_key';
REVOKE ALL ON FUNCTION ringfence.column_key() FROM PUBLIC;
COMMENT ON FUNCTION ringfence.column_key() IS
    'Trigger of protect(): refuses to change the primary key of a row.';

CREATE FUNCTION ringfence.column_seal() RETURNS trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'ringfence_column_seal';
REVOKE ALL ON FUNCTION ringfence.column_seal() FROM PUBLIC;
COMMENT ON FUNCTION ringfence.column_seal() IS
    'Trigger of protect(): refuses a row whose fence is wrong, whatever other triggers did.';

CREATE FUNCTION ringfence.lowered(was bigint, "is" bigint) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_lowered';
COMMENT ON FUNCTION ringfence.lowered(bigint, bigint) IS
    'For the WHEN of triggers: is the fence of a row none, or less than it was?';

CREATE FUNCTION ringfence.resource_statement() RETURNS trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'ringfence_resource_statement';
REVOKE ALL ON FUNCTION ringfence.resource_statement() FROM PUBLIC;
COMMENT ON FUNCTION ringfence.resource_statement() IS
    'Trigger of protect(): refuses a statement whose rows would not be judged, or that does not name the fence column.';

CREATE FUNCTION ringfence.resource_row() RETURNS trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'ringfence_resource_row';
REVOKE ALL ON FUNCTION ringfence.resource_row() FROM PUBLIC;
COMMENT ON FUNCTION ringfence.resource_row() IS
    'Trigger of protect(): refuses a row whose resource this transaction has not claimed.';

-- For the WHEN of triggers, so executable by whoever may write to a protected
-- table. They can't call them by name without USAGE on the schema, and are told
-- nothing but the claims of the own transaction.
CREATE FUNCTION ringfence.unclaimed(template text) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_unclaimed';

CREATE FUNCTION ringfence.unclaimed(
    template text, VARIADIC "values" "any"
) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_unclaimed';

COMMENT ON FUNCTION ringfence.unclaimed(text) IS
    'For the WHEN of triggers: is the resource of a row, or of one of two rows, not claimed by this transaction?';
COMMENT ON FUNCTION ringfence.unclaimed(text, "any") IS
    'For the WHEN of triggers: is the resource of a row, or of one of two rows, not claimed by this transaction?';

CREATE FUNCTION ringfence.unfenced(template text, fence bigint) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_unfenced';

CREATE FUNCTION ringfence.unfenced(
    template text, fence bigint, VARIADIC "values" "any"
) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_unfenced';

COMMENT ON FUNCTION ringfence.unfenced(text, bigint) IS
    'For the WHEN of triggers: is the fence of a new row not the one that this transaction has claimed for its resource?';
COMMENT ON FUNCTION ringfence.unfenced(text, bigint, "any") IS
    'For the WHEN of triggers: is the fence of a new row not the one that this transaction has claimed for its resource?';

CREATE FUNCTION ringfence.outdated(template text, fence bigint) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_outdated';

CREATE FUNCTION ringfence.outdated(
    template text, fence bigint, VARIADIC "values" "any"
) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_outdated';

COMMENT ON FUNCTION ringfence.outdated(text, bigint) IS
    'For the WHEN of triggers: is the fence of an old row newer than what this transaction has claimed for its resource, or nothing claimed?';
COMMENT ON FUNCTION ringfence.outdated(text, bigint, "any") IS
    'For the WHEN of triggers: is the fence of an old row newer than what this transaction has claimed for its resource, or nothing claimed?';

CREATE FUNCTION ringfence.unfenced_update(
    template text, was bigint, "is" bigint
) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_unfenced_update';

CREATE FUNCTION ringfence.unfenced_update(
    template text, was bigint, "is" bigint, VARIADIC "values" "any"
) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_unfenced_update';

COMMENT ON FUNCTION ringfence.unfenced_update(text, bigint, bigint) IS
    'For the WHEN of triggers: is a row outdated, or unfenced what it becomes?';
COMMENT ON FUNCTION ringfence.unfenced_update(text, bigint, bigint, "any") IS
    'For the WHEN of triggers: is a row outdated, or unfenced what it becomes?';

-- Likewise for a CHECK.
CREATE FUNCTION ringfence.require_claim_support(internal) RETURNS internal
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_require_claim_support';
REVOKE ALL ON FUNCTION ringfence.require_claim_support(internal) FROM PUBLIC;
COMMENT ON FUNCTION ringfence.require_claim_support(internal) IS
    'For the server: the CHECK of a table asks require_claim() once for a statement, where the resource is claimed.';

CREATE FUNCTION ringfence.require_claim(template text, "table" oid)
RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE SUPPORT ringfence.require_claim_support
AS 'MODULE_PATHNAME', 'ringfence_require_claim';
COMMENT ON FUNCTION ringfence.require_claim(text, oid) IS
    'For the CHECK of a table that is one resource: true when this transaction has claimed it; otherwise a protected table refuses.';

CREATE FUNCTION ringfence.truncate_statement() RETURNS trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'ringfence_truncate_statement';
REVOKE ALL ON FUNCTION ringfence.truncate_statement() FROM PUBLIC;
COMMENT ON FUNCTION ringfence.truncate_statement() IS
    'Trigger of protect(): refuses TRUNCATE.';

CREATE FUNCTION ringfence.protect(
    "table" regclass,
    fence_column name DEFAULT NULL,
    resource text DEFAULT NULL,
    mode text DEFAULT 'enforce'
) RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'ringfence_protect';

REVOKE ALL ON FUNCTION ringfence.protect(regclass, name, text, text)
    FROM PUBLIC;

COMMENT ON FUNCTION ringfence.protect(regclass, name, text, text) IS
    'Lets nobody but the newest holder write to the table: by a fence column, by claimed resources, or both.';

CREATE FUNCTION ringfence.unprotect("table" regclass) RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'ringfence_unprotect';

REVOKE ALL ON FUNCTION ringfence.unprotect(regclass) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.unprotect(regclass) IS
    'Takes the protection from the table.';

-- ---- Looking for holes ----------------------------------------------------

-- What the triggers of the protected tables should be. Partitions are those
-- that there are now, recorded or not.
CREATE VIEW ringfence.wanted_trigger AS
WITH root AS (
    SELECT c.oid, c.relkind, p.fence_column AS fence, p.resource
    FROM ringfence.protection p
    JOIN pg_catalog.pg_namespace n ON n.nspname = p.root_schema
    JOIN pg_catalog.pg_class c
        ON c.relnamespace = n.oid AND c.relname = p.root_name
    WHERE p.table_schema = p.root_schema AND p.table_name = p.root_name
        AND c.relkind IN ('r', 'p')
), tree AS (
    SELECT root.*, root.oid AS relid, true AS is_root
    FROM root WHERE relkind <> 'p'
    UNION ALL
    SELECT root.*, t.relid, t.level = 0
    FROM root, pg_catalog.pg_partition_tree(root.oid) t
    WHERE relkind = 'p'
    UNION ALL
    -- A hypertable's chunks: children that have clones of our triggers.
    SELECT root.*, i.inhrelid, false
    FROM root JOIN pg_catalog.pg_inherits i ON i.inhparent = root.oid
    WHERE relkind <> 'p' AND EXISTS (
        SELECT FROM pg_catalog.pg_trigger t
        WHERE t.tgrelid = i.inhrelid AND t.tgname LIKE '~ringfence\_%')
), key AS (
    -- The columns of the primary key that a row may not change.
    SELECT root.oid, pg_catalog.array_agg(a.attname ORDER BY a.attnum) AS names
    FROM root
    JOIN pg_catalog.pg_index i ON i.indrelid = root.oid AND i.indisprimary
    JOIN pg_catalog.pg_attribute a
        ON a.attrelid = root.oid AND a.attnum = ANY (i.indkey)
    WHERE NOT EXISTS (
        SELECT FROM tree t
        JOIN pg_catalog.pg_partitioned_table pt ON pt.partrelid = t.relid
        JOIN pg_catalog.pg_attribute pa
            ON pa.attrelid = t.relid AND pa.attnum = ANY (pt.partattrs)
        WHERE t.oid = root.oid AND pa.attname = a.attname)
    GROUP BY root.oid
), by_row AS (
    SELECT tree.*, COALESCE(key.names, '{}') AS keys,
        tree.relkind = 'p'
            OR pg_catalog.count(*) OVER (PARTITION BY tree.oid) > 1
            OR pg_catalog.current_setting('server_version_num')::int < 140000
            AS each_row
    FROM tree LEFT JOIN key ON key.oid = tree.oid
), judged AS (
    SELECT by_row.*,
        -- A CHECK judges the new rows: they are all of one resource.
        fence IS NULL AND NOT each_row AND pg_catalog.strpos(
            pg_catalog.replace(resource, '{{', ''), '{') = 0 AS by_check
    FROM by_row
)
SELECT t.oid AS root, t.relid, t.fence, t.resource, t.keys, t.each_row, w.*
FROM judged t, LATERAL (VALUES
    ('~ringfence_column', 'column_statement', ARRAY[t.fence::text],
        t.fence IS NOT NULL AND t.resource IS NULL AND NOT t.each_row),
    ('~ringfence_column', 'column_row', t.fence::text || t.keys::text[],
        t.fence IS NOT NULL AND t.resource IS NULL AND t.each_row),
    ('~ringfence_delete', 'column_row', ARRAY[t.fence::text],
        t.fence IS NOT NULL AND t.resource IS NULL AND NOT t.each_row),
    ('~ringfence_key', 'column_key', t.keys::text[],
        t.fence IS NOT NULL AND t.resource IS NULL AND NOT t.each_row
            AND t.keys <> '{}'),
    ('~ringfence_seal', 'column_seal', ARRAY[t.fence::text],
        t.fence IS NOT NULL AND t.resource IS NULL),
    ('~ringfence_resource', 'resource_statement',
        ARRAY[t.resource, COALESCE(t.fence::text, '')],
        -- TimescaleDB does not insert into a chunk that has such a one.
        t.resource IS NOT NULL AND (t.is_root OR t.relkind = 'p')),
    ('~ringfence_insert', 'resource_row',
        ARRAY[t.resource, COALESCE(t.fence::text, '')],
        t.resource IS NOT NULL AND NOT t.by_check),
    ('~ringfence_update', 'resource_row',
        ARRAY[t.resource, COALESCE(t.fence::text, '')],
        t.resource IS NOT NULL AND NOT t.by_check),
    ('~ringfence_delete', 'resource_row',
        ARRAY[t.resource, COALESCE(t.fence::text, '')],
        t.resource IS NOT NULL),
    ('~ringfence_truncate', 'truncate_statement',
        ARRAY[COALESCE(t.resource, '')], true)
) AS w (name, function, args, wanted)
WHERE w.wanted;

REVOKE ALL ON ringfence.wanted_trigger FROM PUBLIC;

COMMENT ON VIEW ringfence.wanted_trigger IS
    'The triggers that each protected table, and each partition, should have.';

-- Where no trigger judges what is inserted, a CHECK does.
CREATE VIEW ringfence.wanted_check AS
SELECT w.root, w.relid, w.resource, '~ringfence_claim' AS name
FROM ringfence.wanted_trigger w
WHERE w.name = '~ringfence_resource'
    AND NOT EXISTS (SELECT FROM ringfence.wanted_trigger i
        WHERE i.relid = w.relid AND i.name = '~ringfence_insert');

REVOKE ALL ON ringfence.wanted_check FROM PUBLIC;

COMMENT ON VIEW ringfence.wanted_check IS
    'The CHECKs that protected tables should have whose rows are all of one resource.';

CREATE TYPE ringfence.hole AS (
    severity text,
    object text,
    problem text,
    remedy text
);

COMMENT ON TYPE ringfence.hole IS
    'critical: an unfenced write gets past. warning: somebody could make it, or right writes are refused. notice: to tidy up.';

-- Tables with our triggers that no record speaks of, and what the triggers say.
CREATE VIEW ringfence.unrecorded AS
WITH ours AS (
    SELECT t.tgrelid, t.tgname,
        pg_catalog.convert_from(pg_catalog.substring(t.tgargs, 1,
                pg_catalog.position(t.tgargs, '\x00'::bytea) - 1),
            pg_catalog.getdatabaseencoding()) AS first
    FROM pg_catalog.pg_trigger t
    JOIN pg_catalog.pg_proc f ON f.oid = t.tgfoid
    JOIN pg_catalog.pg_namespace n ON n.oid = f.pronamespace
    JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
    WHERE n.nspname = 'ringfence' AND t.tgnargs > 0
        AND t.tgname IN ('~ringfence_column', '~ringfence_resource')
        AND NOT c.relispartition
        AND NOT EXISTS (
            SELECT FROM ringfence.wanted_trigger w WHERE w.relid = c.oid)
)
SELECT o.tgrelid AS oid,
    pg_catalog.max(o.first) FILTER (WHERE o.tgname = '~ringfence_column')
        AS fence,
    pg_catalog.max(o.first) FILTER (WHERE o.tgname = '~ringfence_resource')
        AS resource
FROM ours o
WHERE NOT EXISTS (
    SELECT FROM ringfence.protection p
    JOIN pg_catalog.pg_namespace n ON n.nspname = p.table_schema
    JOIN pg_catalog.pg_class c
        ON c.relnamespace = n.oid AND c.relname = p.table_name
    WHERE c.oid = o.tgrelid)
GROUP BY o.tgrelid;

REVOKE ALL ON ringfence.unrecorded FROM PUBLIC;

COMMENT ON VIEW ringfence.unrecorded IS
    'Tables with triggers of ours that the record does not have.';

-- The call that puts the table's protection in order.
CREATE FUNCTION ringfence.protect_call(root oid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format('SELECT ringfence.protect(%L, %L, %L, %L)',
        c.oid::regclass, p.fence_column, p.resource, p.mode)
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN ringfence.protection p
        ON p.table_schema = n.nspname AND p.table_name = c.relname
    WHERE c.oid = root
$$;

REVOKE ALL ON FUNCTION ringfence.protect_call(oid) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.protect_call(oid) IS
    'The call of protect() that mends the table''s protection.';

CREATE FUNCTION ringfence.trigger_is_right(wanted ringfence.wanted_trigger)
RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_trigger_is_right';

REVOKE ALL ON FUNCTION ringfence.trigger_is_right(ringfence.wanted_trigger)
    FROM PUBLIC;

COMMENT ON FUNCTION ringfence.trigger_is_right(ringfence.wanted_trigger) IS
    'Part of audit(): is the trigger as protect() makes it, to its WHEN?';

CREATE FUNCTION ringfence.audit_triggers() RETURNS SETOF ringfence.hole
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH state AS (
        SELECT w.root, w.relid, w.name, w.function, t.oid, t.tgenabled,
            t.tgfoid::regproc AS found,
            COALESCE((SELECT string_agg(convert_to(a, getdatabaseencoding())
                    || '\x00'::bytea, '' ORDER BY place)
                FROM unnest(w.args) WITH ORDINALITY u (a, place)), '')
                = t.tgargs AS right_args,
            ringfence.trigger_is_right(w) AS is_right,
            format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I',
                CASE r.relkind WHEN 'p' THEN 'ONLY ' || w.relid::regclass
                    ELSE w.root::regclass::text END, w.name) AS switch_on
        FROM ringfence.wanted_trigger w
        JOIN pg_class r ON r.oid = w.root
        LEFT JOIN pg_trigger t ON t.tgrelid = w.relid AND t.tgname = w.name
    )
    SELECT 'critical', relid::regclass::text,
        format('trigger %I is missing', name), ringfence.protect_call(root)
    FROM state WHERE oid IS NULL
    UNION ALL
    SELECT 'critical', relid::regclass::text,
        format('trigger %I was replaced: it calls %s(), not ringfence.%s()',
            name, found, function),
        ringfence.protect_call(root)
    FROM state WHERE found <> to_regproc('ringfence.' || function)
    UNION ALL
    SELECT 'critical', relid::regclass::text,
        format('trigger %I was made for other columns or another resource',
            name),
        ringfence.protect_call(root)
    FROM state
    WHERE found = to_regproc('ringfence.' || function) AND NOT right_args
    UNION ALL
    SELECT 'critical', relid::regclass::text,
        format('trigger %I was made anew: with another WHEN, or for other '
            'events or columns', name),
        ringfence.protect_call(root)
    FROM state
    WHERE found = to_regproc('ringfence.' || function) AND right_args
        AND NOT is_right
    UNION ALL
    SELECT 'critical', relid::regclass::text,
        format('trigger %I is switched off', name), switch_on
    FROM state WHERE tgenabled IN ('D', 'R')
    UNION ALL
    SELECT 'warning', relid::regclass::text,
        format('trigger %I does not fire when session_replication_role is '
            'replica', name),
        switch_on
    FROM state WHERE tgenabled = 'O'
$$;

REVOKE ALL ON FUNCTION ringfence.audit_triggers() FROM PUBLIC;

COMMENT ON FUNCTION ringfence.audit_triggers() IS
    'Part of audit(): triggers that are missing, replaced, changed, or switched off.';

CREATE FUNCTION ringfence.check_is_right("table" oid, template text)
RETURNS boolean
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_check_is_right';

REVOKE ALL ON FUNCTION ringfence.check_is_right(oid, text) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.check_is_right(oid, text) IS
    'Part of audit(): has the table its CHECK as protect() makes it?';

CREATE FUNCTION ringfence.audit_checks() RETURNS SETOF ringfence.hole
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'critical', w.relid::regclass::text,
        format(CASE WHEN c.oid IS NULL THEN 'constraint %I is missing'
            ELSE 'constraint %I was made anew: it checks something else, or '
                'nothing' END, w.name),
        ringfence.protect_call(w.root)
    FROM ringfence.wanted_check w
    LEFT JOIN pg_constraint c ON c.conrelid = w.relid AND c.conname = w.name
    WHERE NOT ringfence.check_is_right(w.relid, w.resource)
    UNION ALL
    SELECT 'notice', c.conrelid::regclass::text,
        format('has constraint %I, copied from a protected table: it lets '
            'everything pass', c.conname),
        format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass,
            c.conname)
    FROM pg_constraint c
    WHERE c.conname = '~ringfence_claim' AND c.contype = 'c'
        AND NOT EXISTS (SELECT FROM pg_trigger t
            WHERE t.tgrelid = c.conrelid AND t.tgname LIKE '~ringfence\_%')
        AND NOT EXISTS (SELECT FROM ringfence.wanted_check w
            WHERE w.relid = c.conrelid)
$$;

REVOKE ALL ON FUNCTION ringfence.audit_checks() FROM PUBLIC;

COMMENT ON FUNCTION ringfence.audit_checks() IS
    'Part of audit(): CHECKs that are missing, changed, or copied to other tables.';

CREATE FUNCTION ringfence.audit_record() RETURNS SETOF ringfence.hole
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH recorded AS (
        SELECT p.*, c.oid, r.oid AS root,
            p.table_schema = p.root_schema AND p.table_name = p.root_name
                AS is_root,
            format('%I.%I', p.table_schema, p.table_name) AS name
        FROM ringfence.protection p
        LEFT JOIN (pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace)
            ON n.nspname = p.table_schema AND c.relname = p.table_name
            AND c.relkind IN ('r', 'p')
        LEFT JOIN (pg_class r JOIN pg_namespace rn ON rn.oid = r.relnamespace)
            ON rn.nspname = p.root_schema AND r.relname = p.root_name
    )
    SELECT CASE WHEN is_root THEN 'critical' ELSE 'notice' END, name,
        CASE WHEN is_root
            THEN 'should be protected, and is not there: dropped or renamed'
            ELSE 'a partition that is not there any more' END,
        CASE WHEN is_root OR root IS NULL
            THEN format('DELETE FROM ringfence.protection '
                'WHERE table_schema = %L AND table_name = %L',
                table_schema, table_name)
            ELSE ringfence.protect_call(root) END
    FROM recorded WHERE oid IS NULL
    UNION ALL
    SELECT 'critical', name,
        'was a partition of a protected table, and is not any more',
        format('SELECT ringfence.protect(%L, %L, %L, %L)', oid::regclass,
            fence_column, resource, mode)
    FROM recorded
    WHERE NOT is_root AND oid IS NOT NULL AND (root IS NULL OR NOT EXISTS (
        SELECT FROM pg_partition_tree(root) t WHERE t.relid = recorded.oid
        UNION ALL
        SELECT FROM pg_inherits i
        WHERE i.inhparent = root AND i.inhrelid = recorded.oid))
    UNION ALL
    SELECT DISTINCT 'notice', w.relid::regclass::text,
        'a partition of a protected table that is not recorded',
        ringfence.protect_call(w.root)
    FROM ringfence.wanted_trigger w
    WHERE NOT EXISTS (SELECT FROM recorded WHERE recorded.oid = w.relid)
    UNION ALL
    SELECT 'notice', u.oid::regclass::text,
        'has triggers of a protection that is not recorded: renamed, or '
            'restored without the record',
        format('SELECT ringfence.protect(%L, %L, %L)', u.oid::regclass,
            u.fence, u.resource)
    FROM ringfence.unrecorded u
$$;

REVOKE ALL ON FUNCTION ringfence.audit_record() FROM PUBLIC;

COMMENT ON FUNCTION ringfence.audit_record() IS
    'Part of audit(): where the record and the tables differ.';

CREATE FUNCTION ringfence.audit_tables() RETURNS SETOF ringfence.hole
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH protected AS (
        SELECT DISTINCT c.oid, c.relname, c.relkind, c.relpersistence,
            c.relowner, c.relispartition, w.root, w.fence, w.resource,
            c.oid::regclass::text AS name
        FROM ringfence.wanted_trigger w JOIN pg_class c ON c.oid = w.relid
    )
    SELECT 'critical', name, 'is unlogged: after a crash it is empty',
        format('ALTER TABLE %s SET LOGGED', name)
    FROM protected WHERE relpersistence = 'u'
    UNION ALL
    SELECT 'critical', i.inhrelid::regclass::text,
        format('inherits from %s: what is written to it by way of the parent '
            'is not judged', p.name),
        format('ALTER TABLE %s NO INHERIT %s', i.inhrelid::regclass, p.name)
    FROM protected p JOIN pg_inherits i ON i.inhparent = p.oid
    JOIN pg_class c ON c.oid = i.inhrelid
    WHERE NOT c.relispartition AND NOT EXISTS (
        SELECT FROM protected chunk
        WHERE chunk.oid = i.inhrelid AND chunk.root = p.root)
    UNION ALL
    SELECT 'critical', p.name,
        format('is written by way of its parent %s, past triggers on '
            'statements', i.inhparent::regclass),
        format(CASE WHEN p.relispartition
            THEN 'ALTER TABLE %2$s DETACH PARTITION %1$s'
            ELSE 'ALTER TABLE %1$s NO INHERIT %2$s' END,
            p.name, i.inhparent::regclass)
    FROM protected p JOIN pg_inherits i ON i.inhrelid = p.oid
    WHERE p.root = p.oid
    UNION ALL
    SELECT 'critical', p.name,
        format('rule %I rewrites writes before any trigger sees them',
            r.rulename),
        format('DROP RULE %I ON %s', r.rulename, p.name)
    FROM protected p JOIN pg_rewrite r ON r.ev_class = p.oid
    UNION ALL
    SELECT CASE WHEN p.relkind = 'p' OR p.relispartition
            THEN 'critical' ELSE 'notice' END,
        p.name,
        format('trigger %I fires after ours and may change the fence%s',
            t.tgname, CASE WHEN p.relkind = 'p' OR p.relispartition
                THEN ' of a row that moves' ELSE ': the seal refuses that'
                END),
        format('ALTER TRIGGER %I ON %s RENAME TO %I', t.tgname, p.name,
            left('a' || t.tgname, 63))
    FROM protected p JOIN pg_trigger t ON t.tgrelid = p.oid
    WHERE p.fence IS NOT NULL AND p.resource IS NULL
        AND NOT t.tgisinternal AND t.tgenabled <> 'D'
        AND t.tgtype & 19 = 19 -- BEFORE, ROW, UPDATE
        AND t.tgname > '~ringfence_column'
        AND t.tgname NOT LIKE '~ringfence\_%'
        AND t.tgparentid = 0
$$;

REVOKE ALL ON FUNCTION ringfence.audit_tables() FROM PUBLIC;

COMMENT ON FUNCTION ringfence.audit_tables() IS
    'Part of audit(): kinds of table, inheritance, rules, other triggers.';

CREATE FUNCTION ringfence.audit_columns() RETURNS SETOF ringfence.hole
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH protected AS (
        SELECT DISTINCT w.root AS oid, w.fence, w.resource,
            w.root::regclass::text AS name
        FROM ringfence.wanted_trigger w
    ), named AS (
        SELECT p.oid, p.name, p.fence AS col, true AS is_fence
        FROM protected p WHERE p.fence IS NOT NULL
        UNION ALL
        SELECT p.oid, p.name, m[1]::name, false
        FROM protected p, regexp_matches(
            replace(replace(p.resource, '{{', ''), '}}', ''),
            '{([^{}]+)}', 'g') m
    )
    SELECT 'warning', n.name,
        format('column %I is not there: every write is refused', n.col),
        format('SELECT ringfence.unprotect(%L)', n.name)
    FROM named n
    WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = n.oid
        AND a.attname = n.col AND a.attnum > 0 AND NOT a.attisdropped)
    UNION ALL
    SELECT 'warning', n.name,
        format('column %I is no bigint of its own: every write is refused',
            n.col),
        format('SELECT ringfence.unprotect(%L)', n.name)
    FROM named n JOIN pg_attribute a ON a.attrelid = n.oid
        AND a.attname = n.col AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
    WHERE n.is_fence AND (a.attgenerated <> ''
        OR (t.typtype <> 'd' AND t.oid <> 'bigint'::regtype)
        OR (t.typtype = 'd' AND t.typbasetype <> 'bigint'::regtype))
    UNION ALL
    SELECT 'warning', n.name,
        format('column %I has a type whose text depends on settings: every '
            'write is refused', n.col),
        format('SELECT ringfence.unprotect(%L)', n.name)
    FROM named n JOIN pg_attribute a ON a.attrelid = n.oid
        AND a.attname = n.col AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
    JOIN pg_proc o ON o.oid = t.typoutput
    WHERE NOT n.is_fence AND (o.provolatile <> 'i' OR t.typcategory = 'G'
        OR o.oid IN ('float4out'::regproc, 'float8out'::regproc))
    UNION ALL
    SELECT 'notice', c.oid::regclass::text,
        format('has a column %I like the fence columns of protected tables, '
            'and is not protected', a.attname),
        format('SELECT ringfence.protect(%L, %L)', c.oid::regclass, a.attname)
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid
    JOIN pg_namespace s ON s.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relpersistence = 'p'
        AND a.attnum > 0 AND NOT a.attisdropped
        AND a.atttypid = 'bigint'::regtype AND a.attgenerated = ''
        AND (a.attname = 'fence' OR EXISTS (
            SELECT FROM protected p WHERE p.fence = a.attname))
        AND s.nspname <> 'ringfence'
        AND NOT EXISTS (SELECT FROM ringfence.protection p
            WHERE p.table_schema = s.nspname AND p.table_name = c.relname)
        AND NOT EXISTS (
            -- Nor what protect() would not take.
            SELECT FROM pg_inherits i WHERE c.relkind = 'r'
                AND c.oid IN (i.inhrelid, i.inhparent))
        AND NOT EXISTS (SELECT FROM pg_partition_tree(c.oid) t
            JOIN pg_class l ON l.oid = t.relid
            WHERE l.relkind = 'f' OR l.relpersistence <> 'p')
        AND NOT EXISTS (
            SELECT FROM ringfence.unrecorded u WHERE u.oid = c.oid)
$$;

REVOKE ALL ON FUNCTION ringfence.audit_columns() FROM PUBLIC;

COMMENT ON FUNCTION ringfence.audit_columns() IS
    'Part of audit(): columns that are gone or changed, and tables that look as if they should be protected.';

CREATE FUNCTION ringfence.audit_privileges() RETURNS SETOF ringfence.hole
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
        SELECT 'warning', c.oid::regclass::text,
            format(CASE g.privilege_type WHEN 'TRIGGER'
                THEN '%s may replace triggers (TRIGGER)'
                ELSE '%s may TRUNCATE, once the trigger is switched off' END,
                g.role),
            format('REVOKE %s ON %s FROM %s', g.privilege_type,
                c.oid::regclass, g.role)
        FROM (SELECT DISTINCT relid FROM ringfence.wanted_trigger) w
        JOIN pg_class c ON c.oid = w.relid,
        LATERAL (SELECT a.privilege_type,
                CASE a.grantee WHEN 0 THEN 'PUBLIC'
                    ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS role
            FROM aclexplode(c.relacl) a
            WHERE a.grantee <> c.relowner
                AND a.privilege_type IN ('TRIGGER', 'TRUNCATE')) g;
    RETURN QUERY
        SELECT DISTINCT 'warning', c.oid::regclass::text,
            format('%s owns the table and uses the guard: it can switch off '
                'what it is judged by', quote_ident(r.rolname)),
            format('ALTER TABLE %s OWNER TO %I', c.oid::regclass,
                pg_get_userbyid((SELECT e.extowner FROM pg_extension e
                    WHERE e.extname = 'ringfence')))
        FROM (SELECT DISTINCT root FROM ringfence.wanted_trigger) w
        JOIN pg_class c ON c.oid = w.root
        JOIN pg_roles r ON r.oid = c.relowner
        JOIN pg_proc f ON f.proname = 'guard'
        JOIN pg_namespace n ON n.oid = f.pronamespace,
        aclexplode(f.proacl) a
        WHERE n.nspname = 'ringfence' AND a.grantee <> f.proowner
            AND (a.grantee = 0 OR pg_has_role(r.oid, a.grantee, 'USAGE'))
            AND NOT r.rolsuper;
    RETURN QUERY
        SELECT 'warning', 'ringfence',
            format('%s owns the schema: it can drop what is in it',
                quote_ident(r.rolname)),
            format('ALTER SCHEMA ringfence OWNER TO %I',
                pg_get_userbyid((SELECT e.extowner FROM pg_extension e
                    WHERE e.extname = 'ringfence')))
        FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner
        WHERE n.nspname = 'ringfence' AND NOT r.rolsuper;
    RETURN QUERY
        SELECT DISTINCT 'warning', 'ringfence',
            format('%s may create objects in the schema', g.role),
            format('REVOKE CREATE ON SCHEMA ringfence FROM %s', g.role)
        FROM pg_namespace n,
        LATERAL (SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC'
                ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS role
            FROM aclexplode(n.nspacl) a
            WHERE a.grantee <> n.nspowner AND a.privilege_type = 'CREATE') g
        WHERE n.nspname = 'ringfence';

    -- From 15 on this setting can be granted to ordinary roles.
    IF to_regclass('pg_catalog.pg_parameter_acl') IS NOT NULL THEN
        RETURN QUERY EXECUTE $query$
            SELECT 'critical', 'session_replication_role',
                format('%s may set it, and is then only compared', g.role),
                format('REVOKE SET ON PARAMETER session_replication_role '
                    'FROM %s', g.role)
            FROM pg_parameter_acl p,
            LATERAL (SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC'
                    ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS role
                FROM aclexplode(p.paracl) a
                WHERE a.privilege_type = 'SET'
                    AND a.grantee <> 10 -- the bootstrap superuser
            ) g
            WHERE p.parname = 'session_replication_role'$query$;
    END IF;
END
$$;

REVOKE ALL ON FUNCTION ringfence.audit_privileges() FROM PUBLIC;

COMMENT ON FUNCTION ringfence.audit_privileges() IS
    'Part of audit(): who could open a hole.';

CREATE FUNCTION ringfence.row_fences(
    "table" oid,
    fence_column name,
    template text,
    OUT resource text,
    OUT fence bigint
) RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'ringfence_row_fences';

REVOKE ALL ON FUNCTION ringfence.row_fences(oid, name, text) FROM PUBLIC;

COMMENT ON FUNCTION ringfence.row_fences(oid, name, text) IS
    'Resource and fence of every row. Reads the whole table.';

-- Rows written under a claim that the registry no longer knows of. What was
-- retired is known by the floor.
CREATE FUNCTION ringfence.audit_registry() RETURNS SETOF ringfence.hole
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'critical', n.root::regclass::text,
        format('resource %L has fence %s in the registry, and %s in the table',
            n.resource, COALESCE(r.fence, 0), n.fence),
        format('INSERT INTO ringfence.registry AS r '
            '(resource, fence, claimed_at) '
            'VALUES (%L, %s, now()) ON CONFLICT (resource) '
            'DO UPDATE SET fence = EXCLUDED.fence, holder = NULL '
            'WHERE r.fence < EXCLUDED.fence',
            n.resource, n.fence)
    FROM (SELECT w.root, f.resource, max(f.fence) AS fence
        FROM (SELECT DISTINCT root, fence, resource
            FROM ringfence.wanted_trigger) w,
        LATERAL ringfence.row_fences(w.root, w.fence, w.resource) f
        GROUP BY w.root, f.resource) n
    LEFT JOIN ringfence.registry r ON r.resource = n.resource
    WHERE n.fence > COALESCE(r.fence,
        (SELECT f.fence FROM ringfence.retired f), 0)
$$;

REVOKE ALL ON FUNCTION ringfence.audit_registry() FROM PUBLIC;

COMMENT ON FUNCTION ringfence.audit_registry() IS
    'Part of audit(): registry rows that went backwards.';

CREATE FUNCTION ringfence.audit() RETURNS SETOF ringfence.hole
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT h.* FROM (
        SELECT * FROM ringfence.audit_triggers()
        UNION SELECT * FROM ringfence.audit_checks()
        UNION SELECT * FROM ringfence.audit_record()
        UNION SELECT * FROM ringfence.audit_tables()
        UNION SELECT * FROM ringfence.audit_columns()
        UNION SELECT * FROM ringfence.audit_privileges()
        UNION SELECT * FROM ringfence.audit_registry()
    ) h
    ORDER BY array_position(ARRAY['critical', 'warning', 'notice'],
        h.severity), h.object, h.problem
$$;

REVOKE ALL ON FUNCTION ringfence.audit() FROM PUBLIC;

COMMENT ON FUNCTION ringfence.audit() IS
    'Every hole found in the protection, the worst first, each with the statement that mends it.';

CREATE VIEW ringfence.protected AS
SELECT pg_catalog.format('%I.%I', p.table_schema, p.table_name) AS "table",
    p.fence_column, p.resource, p.mode,
    (SELECT pg_catalog.count(*) FROM ringfence.protection l
        WHERE l.root_schema = p.root_schema AND l.root_name = p.root_name) - 1
        AS partitions,
    CASE WHEN c.oid IS NULL THEN 'missing'
        WHEN EXISTS (SELECT FROM ringfence.wanted_trigger w
            LEFT JOIN pg_catalog.pg_trigger t
                ON t.tgrelid = w.relid AND t.tgname = w.name
                AND t.tgenabled IN ('A', 'O')
                AND t.tgfoid
                    = pg_catalog.to_regproc('ringfence.' || w.function)
            WHERE w.root = c.oid AND t.oid IS NULL)
            OR EXISTS (SELECT FROM ringfence.wanted_check w
                LEFT JOIN pg_catalog.pg_constraint k
                    ON k.conrelid = w.relid AND k.conname = w.name
                WHERE w.root = c.oid AND k.oid IS NULL) THEN 'broken'
        ELSE 'in place' END AS triggers,
    p.protected_by, p.protected_at
FROM ringfence.protection p
LEFT JOIN (pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace)
    ON n.nspname = p.table_schema AND c.relname = p.table_name
WHERE p.table_schema = p.root_schema AND p.table_name = p.root_name
ORDER BY 1;

REVOKE ALL ON ringfence.protected FROM PUBLIC;

COMMENT ON VIEW ringfence.protected IS
    'The protected tables: by what, in which mode, and whether the triggers are in place.';
