-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Everything that CREATE EXTENSION ringfence makes.

\echo Use "CREATE EXTENSION ringfence" to load this file. \quit

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

CREATE FUNCTION ringfence.resource_row() RETURNS trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'ringfence_resource_row';
REVOKE ALL ON FUNCTION ringfence.resource_row() FROM PUBLIC;
COMMENT ON FUNCTION ringfence.resource_row() IS
    'Trigger of protect(): refuses a row whose resource this transaction has not claimed.';

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
