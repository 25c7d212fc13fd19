-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- verdict.sql - what was committed, in the order of the commits, against what
-- must hold and what the workers were told.
--
-- Variables: slot, log.  Prints one line a violation, then "sums" and figures.
\set ON_ERROR_STOP 1
\pset format unaligned
\pset tuples_only on
SET client_min_messages = error;
SET work_mem = '256MB';
SET synchronous_commit = local;
SET statement_timeout = '120s';

-- What another server had committed before this one took over (servers.sh).
CREATE TABLE IF NOT EXISTS earlier (n bigserial, data text);

CREATE TEMP TABLE decoded (n bigserial, data text);
INSERT INTO decoded (data) SELECT data FROM earlier ORDER BY n;
INSERT INTO decoded (data) SELECT data
FROM pg_logical_slot_get_changes(:'slot', NULL, NULL, 'include-xids', '0',
                                 'include-timestamp', '1');

-- In the order of the commits: test_decoding tells a transaction at its end.
CREATE TEMP TABLE committed AS
SELECT n,
       substring(data FROM 'op\[text\]:''([^'']*)''') AS op,
       substring(data FROM 'resource\[text\]:''([^'']*)''') AS resource,
       coalesce(substring(data FROM 'base\[text\]:''([^'']*)'''), '') AS base,
       substring(data FROM 'fence\[bigint\]:(\d+)')::bigint AS fence,
       substring(data FROM 'holder\[text\]:''([^'']*)''') AS holder
FROM decoded
WHERE data LIKE 'table public.work: INSERT:%';

CREATE TEMP TABLE events (n bigint, at bigint, who text, what text, a text,
                          b text, c text, d text);
CREATE TEMP TABLE lines (line text, n bigserial);
\copy lines (line) FROM pstdin WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')
INSERT INTO events
SELECT n, f[1]::bigint, f[2], f[3], f[4], f[5], f[6], f[7]
FROM lines, string_to_array(line, E'\t') AS f;

CREATE TEMP TABLE told AS
SELECT a AS op, b AS outcome FROM events WHERE what = 'told';

-- I1: fences never go down.
SELECT 'I1: ' || op || ' commits with fence ' || fence || ' after '
       || highest
FROM (SELECT *, max(fence) OVER (PARTITION BY resource ORDER BY n
                                 ROWS UNBOUNDED PRECEDING) AS highest
      FROM committed) AS c
WHERE fence < highest;

-- I2: one number, one holder.
SELECT 'I2: fence ' || fence || ' of ' || resource || ' writes for '
       || count(DISTINCT holder) || ' holders'
FROM committed GROUP BY resource, fence HAVING count(DISTINCT holder) > 1;

-- I3: holders don't interleave.
SELECT 'I3: holder ' || left(holder, 8) || ' commits again after another did'
FROM (SELECT *, lag(holder) OVER (PARTITION BY resource ORDER BY n)
                AS previous FROM committed) AS c
WHERE previous IS DISTINCT FROM holder
GROUP BY resource, holder HAVING count(*) > 1;

-- I4: what was acknowledged is there, once (op is a primary key).
SELECT 'I4: ' || op || ' was acknowledged and is not there'
FROM told WHERE outcome = 'done'
AND op NOT IN (SELECT op FROM committed);

-- I5: what was refused is not.
SELECT 'I5: ' || op || ' was refused and is there'
FROM told WHERE outcome = 'refused' AND op IN (SELECT op FROM committed);

-- I6: never twice, whatever was told of it.
SELECT 'I6: ' || op || ' is there ' || count(*) || ' times'
FROM committed GROUP BY op HAVING count(*) > 1;

-- I7: everybody had read the one before.
SELECT 'I7: ' || op || ' had read "' || base || '", but "' || previous
       || '" came before it'
FROM (SELECT *, lag(op, 1, '') OVER (PARTITION BY resource ORDER BY n)
                AS previous FROM committed) AS c
WHERE base <> previous;

-- Two believed at once: the intervals from a grant to the last moment at which
-- its holder was told that the lock is its own, and acted on it.
CREATE TEMP TABLE beliefs AS
SELECT resource, holder, min(since) AS since, max(until) AS until
FROM (SELECT what, a AS resource, c AS holder,
             CASE WHEN what = 'believes' THEN d::bigint END AS since,
             lead(at) OVER (PARTITION BY who ORDER BY n) AS until
      FROM events WHERE what IN ('believes', 'told')) AS e
WHERE what = 'believes' GROUP BY resource, holder;

SELECT 'sums ' ||
       (SELECT count(*) FROM committed) || ' ' ||
       (SELECT count(*) FROM told WHERE outcome = 'refused') || ' ' ||
       (SELECT count(*) FROM told WHERE outcome = 'unknown') || ' ' ||
       (SELECT count(*)
        FROM (SELECT since, max(until) OVER
                     (PARTITION BY resource ORDER BY since ROWS BETWEEN
                      UNBOUNDED PRECEDING AND 1 PRECEDING) AS previous
              FROM beliefs) AS b
        WHERE since < previous) || ' ' ||
       (SELECT count(*) FROM told WHERE outcome = 'unknown'
        AND op IN (SELECT op FROM committed));
