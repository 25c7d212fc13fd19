-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- What a first claim costs inside the server, without its statement: a thousand
-- different resources in one transaction, each fence unchanged.

--: rounds 40
--: batch_ms 20
--: rows 1000
--: cost_above nothing

--: session
SET synchronous_commit = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;

--: setup
CREATE TABLE claim (resource text COLLATE "C" PRIMARY KEY, fence bigint,
                    holder text, claimed_at timestamptz) WITH (fillfactor = 70);
INSERT INTO claim SELECT 'inventory:sku-' || i, 7, 'b5e1', now()
  FROM generate_series(1, 1000) i;
ANALYZE;
SELECT count(ringfence.guard('inventory:sku-' || i, 7, 'b5e1'))
  FROM generate_series(1, 1000) i;

--: theirs nothing
--: statement
SELECT count('inventory:sku-' || i) FROM generate_series(1, 1000) i

--: ours first
--: statement
SELECT count(ringfence.guard('inventory:sku-' || i, 7, 'b5e1'))
FROM generate_series(1, 1000) i

--: ours repeated
--: statement
SELECT count(ringfence.guard('inventory:sku-' || 1 + i % 1, 7, 'b5e1'))
FROM generate_series(1000, 1999) i

--: theirs advisory
--: statement
SELECT count(pg_advisory_xact_lock_shared(length('inventory:sku-' || i) + i))
FROM generate_series(1, 1000) i

--: theirs for_share
--: statement
SELECT count(f) FROM (SELECT fence AS f FROM generate_series(1, 1000) i
JOIN claim ON resource = 'inventory:sku-' || i FOR SHARE OF claim) q
