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
