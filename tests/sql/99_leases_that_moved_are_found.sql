-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- A session remembers where it has seen a lease.  When the place has been given
-- to another resource, that one's holder is not taken for the holder of this.
BEGIN;
SELECT plan(3);

COMMIT;
SELECT fence FROM ringfence.acquire('t1', 'h1', '1 min') \gset
SELECT ringfence.release('t1', :fence, 'h1') AS given_back \gset
SELECT ctid AS place FROM ringfence.leases \gset
INSERT INTO ringfence.leases
    SELECT 't' || i, 1, repeat('x', 100), now() + interval '1 hour'
    FROM generate_series(2, 24) AS i;
UPDATE ringfence.leases SET fence = fence + 1 WHERE resource < 't5';
\ir second_place_of_the_first_page.psql
CALL give_second_place_to_t9('ringfence.leases');
BEGIN;
SELECT is(:'place'::tid, '(0,2)', 'where it was seen last');
SELECT is(ctid, :'place', 'is the place of another resource''s lease')
    FROM ringfence.leases WHERE resource = 't9';
SELECT is(outcome, 'granted', 'which does not speak for the one that was there')
    FROM ringfence.acquire('t1', 'h2', '1 min');

SELECT * FROM finish();
ROLLBACK;
