-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- soak_record.sql - a soak in a hundred slices of time, for the report.  In the
-- same session as verdict.sql, right after it.
\pset fieldsep '\t'

CREATE TEMP TABLE sliced AS
SELECT what, a, b, c, d, width_bucket(at, first, last + 1, 100) AS slice
FROM events,
     (SELECT min(at) AS first, max(at) AS last FROM events) AS all_of_it
WHERE what IN ('told', 'happens');

SELECT 'span', max(at) - min(at) FROM events;

-- What writers were told.
SELECT 'told', slice, b, c, count(*)
FROM sliced WHERE what = 'told' GROUP BY slice, b, c ORDER BY slice, b, c;

-- What was done to the world.
SELECT 'happened', slice, a, count(*)
FROM sliced WHERE what = 'happens' GROUP BY slice, a ORDER BY slice, a;

-- When two believed at once.
SELECT 'overlap', width_bucket(since, first, last + 1, 100) AS slice, count(*)
FROM (SELECT since, max(until) OVER (PARTITION BY resource ORDER BY since
                                     ROWS BETWEEN UNBOUNDED PRECEDING AND
                                     1 PRECEDING) AS previous
      FROM beliefs) AS b,
     (SELECT min(at) AS first, max(at) AS last FROM events) AS all_of_it
WHERE since < previous GROUP BY slice ORDER BY slice;
