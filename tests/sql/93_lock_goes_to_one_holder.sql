-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(18);

CREATE TABLE stock (sku text PRIMARY KEY, quantity int);
SELECT ringfence.protect('stock', resource => 'stock:{sku}');
COMMIT;

BEGIN;
SELECT is(a, ROW('granted', 1, 60000)::text, 'the first is granted number 1')
    FROM (SELECT ringfence.acquire('stock:a', 'h1', '1 min')::text) AS t (a);
COMMIT;
BEGIN;
SELECT is(concat_ws(' ', outcome, fence, left_ms BETWEEN 1 AND 60000), 'replayed 1 t',
    'asked again by its holder: the same number, and what is left of its time')
    FROM ringfence.acquire('stock:a', 'h1', '10 min');
SELECT is(concat_ws(' ', outcome, fence, left_ms BETWEEN 1 AND 60000), 'busy t',
    'another one gets no number, and is told how long it is held')
    FROM ringfence.acquire('stock:a', 'h2', '1 min');
SELECT is(fence, 1::bigint, 'the registry has the claim')
    FROM ringfence.registry WHERE resource = 'stock:a' AND holder = 'h1';
SELECT lives_ok($$SELECT ringfence.guard('stock:a', 1, 'h1')$$,
    'so its holder passes the guard');
SELECT lives_ok($$INSERT INTO stock VALUES ('a', 5)$$, 'and writes');
COMMIT;

-- The lease runs out, whoever was there.
UPDATE ringfence.leases SET expires_at = clock_timestamp() - interval '1 ms';
BEGIN;
SELECT is(outcome || fence, 'granted2', 'after its end another is granted')
    FROM ringfence.acquire('stock:a', 'h2', '1 min');
SELECT lives_ok($$UPDATE stock SET quantity = 4$$,
    'who has acquired has claimed, in this transaction too');
SELECT is(ringfence.fence('stock:a'), 2::bigint, 'and knows the number');
COMMIT;
BEGIN;
SELECT throws_ok($$SELECT ringfence.guard('stock:a', 1, 'h1')$$, 'RF001', NULL,
    'the one before is stale, whatever it believes');
SELECT throws_ok($$UPDATE stock SET quantity = 0$$, 'RF003', NULL,
    'and cannot write');
SELECT is(array_agg(concat_ws(' ', resource, fence, holder)),
    ARRAY['stock:a 2 h2'], 'the view shows who has it') FROM ringfence.locks;

-- Numbers go up whatever was stored, and from where the caller knows better.
SELECT lives_ok($$SELECT ringfence.guard('b', 41, 'x')$$, 'claimed from elsewhere');
SELECT is(fence, 42::bigint, 'the next number is above it')
    FROM ringfence.acquire('b', 'h3', '1 s');
SELECT is(fence, 101::bigint, 'and above the floor')
    FROM ringfence.acquire('c', 'h3', '1 s', 100);
SELECT ringfence.guard('d', 9007199254740991, 'x');
SELECT throws_ok($$SELECT ringfence.acquire('d', 'h4', '1 s')$$, 'RF004', NULL,
    'the last number there is has no next');

-- Undone with its transaction.
SAVEPOINT s;
SELECT ringfence.acquire('e', 'h5', '1 min');
ROLLBACK TO s;
SELECT is(count(*), 0::bigint, 'a lock that was rolled back is nobody''s')
    FROM ringfence.leases WHERE resource = 'e';
SELECT is(fence, 1::bigint, 'nor is its number used up')
    FROM ringfence.acquire('e', 'h6', '1 min');

SELECT * FROM finish();
ROLLBACK;
