-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Eight clients write for one resource under one grant, each its own row, and no
-- commit waits for the disk: what counts is processor time, all on this machine.

--: rounds 30
--: batch_ms 150
--: clients 8

--: session
SET synchronous_commit = off;

--: setup
CREATE TABLE account (id int PRIMARY KEY, n bigint NOT NULL)
  WITH (fillfactor = 10);
INSERT INTO account SELECT i, 0 FROM generate_series(0, 7999) i;
CREATE TABLE claim (resource text COLLATE "C" PRIMARY KEY, fence bigint,
                    holder text, claimed_at timestamptz) WITH (fillfactor = 10);
INSERT INTO claim VALUES ('inventory:sku-42', 7, 'b5e1', now());
ANALYZE;
SELECT ringfence.guard('inventory:sku-42', 7, 'b5e1');

--: theirs no_guard
--: statement
UPDATE account SET n = n + 1 WHERE id = {client} * 1000

--: ours no_guard_again no_guard
--: statement
UPDATE account SET n = n + 1 WHERE id = {client} * 1000

--: ours guard
--: statement
SELECT ringfence.guard('inventory:sku-42', 7, 'b5e1');
UPDATE account SET n = n + 1 WHERE id = {client} * 1000

--: ours guard_in_where
--: statement
UPDATE account SET n = n + 1 WHERE id = {client} * 1000
AND ringfence.try_guard('inventory:sku-42', 7, 'b5e1')

-- A statement that does nothing: what is not the guard's.
--: theirs second_statement
--: statement
SELECT 1;
UPDATE account SET n = n + 1 WHERE id = {client} * 1000

--: theirs advisory
--: statement
SELECT pg_advisory_xact_lock_shared(42);
UPDATE account SET n = n + 1 WHERE id = {client} * 1000

--: theirs for_share
--: statement
SELECT fence FROM claim WHERE resource = 'inventory:sku-42' FOR SHARE;
UPDATE account SET n = n + 1 WHERE id = {client} * 1000

--: theirs upsert
--: statement
INSERT INTO claim AS c VALUES ('inventory:sku-42', 7, 'b5e1', now())
ON CONFLICT (resource) DO UPDATE SET fence = EXCLUDED.fence
WHERE c.fence <= EXCLUDED.fence;
UPDATE account SET n = n + 1 WHERE id = {client} * 1000
