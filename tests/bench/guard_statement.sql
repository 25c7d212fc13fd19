-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- guard() with an unchanged fence as a statement and transaction of its own,
-- and what else could hold others off.  Commits do not wait for the disk, which
-- is kind to FOR SHARE and upsert: they have something to write.  On one
-- processor: the question is what they cost, not how long it takes to wake up
-- another one.

--: rounds 40
--: processors 1
--: batch_ms 20

--: session
SET synchronous_commit = off;

--: setup
CREATE TABLE account (id bigint PRIMARY KEY, fence bigint) WITH (fillfactor = 50);
INSERT INTO account SELECT i, 7 FROM generate_series(1, 100) i;
CREATE TABLE claim (resource text COLLATE "C" PRIMARY KEY, fence bigint,
                    holder text, claimed_at timestamptz) WITH (fillfactor = 70);
INSERT INTO claim SELECT 'inventory:sku-' || i, 7, 'b5e1', now()
  FROM generate_series(1, 1000) i;
ANALYZE;
SELECT count(ringfence.guard('inventory:sku-' || i, 7, 'b5e1'))
  FROM generate_series(1, 1000) i;

--: ours guard
--: statement
SELECT ringfence.guard('inventory:sku-42', 7, 'b5e1')

--: theirs advisory
--: statement
SELECT pg_advisory_xact_lock_shared(42)

-- The same once more: how far two equal things are apart on this machine.
--: ours advisory_again advisory
--: statement
SELECT pg_advisory_xact_lock_shared(42)

--: theirs for_share
--: statement
SELECT fence FROM claim WHERE resource = 'inventory:sku-42' FOR SHARE

--: theirs upsert
--: statement
INSERT INTO claim AS c VALUES ('inventory:sku-42', 7, 'b5e1', now())
ON CONFLICT (resource) DO UPDATE SET fence = EXCLUDED.fence
WHERE c.fence <= EXCLUDED.fence
