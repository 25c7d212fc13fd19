-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- record.sql - what verdict.sql looked at, for the report: each commit with its
-- place in the order and the time of the day in ms, each belief with its times
-- on the log's clock.  In the same session as verdict.sql, right after it.
\pset fieldsep '\t'

SELECT 'commit', row_number() OVER (ORDER BY c.n), t.at, c.resource, c.op,
       c.base, c.fence, c.holder
FROM committed AS c,
     LATERAL (SELECT (1000 * extract(epoch FROM substring(
                          d.data FROM '\(at (.*)\)')::timestamptz))::bigint AS at
              FROM decoded AS d
              WHERE d.n > c.n AND d.data LIKE 'COMMIT%'
              ORDER BY d.n LIMIT 1) AS t
ORDER BY c.n;

SELECT 'belief', resource, holder, since, until
FROM beliefs WHERE until IS NOT NULL ORDER BY since;
