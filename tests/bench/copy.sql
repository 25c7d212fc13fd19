-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- COPY of 500,000 rows into a protected table.  The rows come from a file of
-- the server, so that no client is part of the time.

--: rounds 21
--: rows 500000
--: cost_above none

--: setup
SELECT ringfence.guard('warehouse:1', 7, 'b5e1');
COPY (SELECT i, 1, 0, 7, 'a row of ordinary size'
      FROM generate_series(1, 500000) i) TO '{tmp}/rows';

-- Protected tables refuse to be emptied, but to a replica.
--: each
CREATE TABLE "{name}" (id int NOT NULL, place int NOT NULL, n bigint NOT NULL,
                       fence bigint NOT NULL, note text);

--: before
SET session_replication_role = replica;
TRUNCATE "{name}";
SET session_replication_role = origin;

--: statement
SELECT ringfence.guard('warehouse:1', 7, 'b5e1');
COPY "{name}" FROM '{tmp}/rows'

--: theirs none
--: ours none_again none

--: ours column
--: setup
SELECT ringfence.protect('"column"', fence_column => 'fence');

--: ours resource
--: setup
SELECT ringfence.protect('resource', resource => 'warehouse:1');

--: ours template
--: setup
SELECT ringfence.protect('template', resource => 'warehouse:{place}');

--: ours both
--: setup
SELECT ringfence.protect('"both"', fence_column => 'fence',
                         resource => 'warehouse:{place}');
