-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(37);

SELECT ringfence.acquire('r', 'h1', '1 min');

-- ---- Renew -----------------------------------------------------------------

SELECT is(ringfence.renew('r', 1, 'h1', '10 min')::text, '(t,f)', 'longer');
SELECT ok("left" > interval '9 min', 'it lasts longer') FROM ringfence.locks;
SELECT is(ringfence.renew('r', 1, 'h1', '1 s')::text, '(t,f)', 'shorter is heard');
SELECT ok("left" > interval '9 min', 'but takes nothing back')
    FROM ringfence.locks;
SELECT is(ringfence.renew('r', 1, 'h2', '1 min')::text, '(f,t)',
    'not by another holder, who is told that it is taken');
SELECT is(ringfence.renew('r', 2, 'h1', '1 min')::text, '(f,t)',
    'nor with another number');
SELECT is(ringfence.renew('none', 1, 'h1', '1 min')::text, '(f,f)',
    'nor is one made that is not there');

-- ---- Reissue ---------------------------------------------------------------

SELECT is(ringfence.reissue('r', 1, 'h1', 50), 51::bigint, 'raised above the floor');
SELECT is(ringfence.reissue('r', 1, 'h1', 50), 51::bigint,
    'asked again: the same number');
SELECT is(ringfence.high_water('r'), 51::bigint, 'which is stored');
SELECT ok("left" > interval '9 min', 'its time stays') FROM ringfence.locks;
SELECT is(ringfence.reissue('r', 51, 'h2', 60), NULL, 'not for another holder');
SELECT is(ringfence.reissue('r', 52, 'h1', 60), NULL, 'nor another number');

-- ---- Release ---------------------------------------------------------------

SELECT is(ringfence.release('r', 1, 'h1')::text, '(f,t)', 'the old number is not it');
SELECT is(ringfence.release('r', 51, 'h2')::text, '(f,t)', 'nor another holder');
SELECT is(ringfence.release('r', 51, 'h1')::text, '(t,f)', 'given back by its holder');
SELECT is(ringfence.release('r', 51, 'h1')::text, '(f,f)', 'once');
SELECT is(ringfence.renew('r', 51, 'h1', '1 min')::text, '(f,f)',
    'and never brought back');
SELECT is_empty($$SELECT * FROM ringfence.locks$$, 'nobody has it');
SELECT is(fence, 52::bigint, 'the next one has a greater number')
    FROM ringfence.acquire('r', 'h2', '1 min');

-- ---- Run out ---------------------------------------------------------------

UPDATE ringfence.leases SET expires_at = clock_timestamp();
SELECT is(ringfence.renew('r', 52, 'h2', '1 min')::text, '(f,f)',
    'what has run out is not renewed, though nobody took it');
SELECT is(ringfence.release('r', 52, 'h2')::text, '(f,f)', 'nor given back');
SELECT is(ringfence.reissue('r', 52, 'h2', 60), NULL, 'nor raised');

-- ---- By force --------------------------------------------------------------

SELECT ringfence.acquire('r', 'h3', '1 min');
SELECT ok(NOT ringfence.force_release('r', 52, 'stuck'), 'not under another number');
SELECT ok(ringfence.force_release('r', 53, 'stuck'), 'whoever has it, by its number');
SELECT ok(NOT ringfence.force_release('r', 53, 'stuck'), 'once');
SELECT throws_ok($$SELECT ringfence.force_release('r', 53, '')$$, 'RF004', NULL,
    'a reason is demanded');

-- ---- Retire ----------------------------------------------------------------

COMMIT;
BEGIN;
SELECT ringfence.acquire('used', 'h1', '1 min');
COMMIT;
UPDATE ringfence.registry SET claimed_at = now() - interval '1 day';
BEGIN;
SELECT is(ringfence.retire('1 hour'), 1, 'a lock that somebody has is not idle');
SELECT is(array_agg(resource), ARRAY['used'], 'and the lease of the other is gone')
    FROM ringfence.leases;
SELECT is(fence, 54::bigint, 'its number goes on above the floor')
    FROM ringfence.acquire('r', 'h4', '1 min');

-- ---- Arguments ---------------------------------------------------------------

SELECT throws_ok(format('SELECT ringfence.acquire(%s)', a), 'RF004', NULL, a)
    FROM unnest(ARRAY[$$'r', 'h', '0'$$, $$'r', 'h', '24 h 1 us'$$,
    $$'r', 'h', '1 mon -29 d -25 h'$$, $$'r', '', '1 s'$$, $$'', 'h', '1 s'$$,
    $$'r', 'h', '1 s', -1$$]) AS a;
SELECT is(left_ms, 82800000::bigint, 'a month less its days is hours')
    FROM ringfence.acquire('month', 'h', '1 mon -29 d -1 h');

SELECT * FROM finish();
ROLLBACK;
