-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(6);

SELECT is(count(*), 1000::bigint, 'a thousand claims')
    FROM generate_series(1, 1000) AS i
    WHERE ringfence.guard('r' || i, i, 'a');
SELECT is(count(*), 1000::bigint, 'each is remembered')
    FROM generate_series(1, 1000) AS i
    WHERE ringfence.fence('r' || i) = i;
SAVEPOINT s;
SELECT count(*) AS more FROM generate_series(501, 1500) AS i
    WHERE ringfence.guard('r' || i, i + 1, 'a') \gset
ROLLBACK TO s;
SELECT is(:more, 1000, 'a thousand more, half of them above the first');
SELECT is(count(*), 1000::bigint, 'the first ones are still remembered')
    FROM generate_series(1, 1000) AS i
    WHERE ringfence.fence('r' || i) = i;
SELECT throws_ok($$SELECT ringfence.fence('r1001')$$, 'RF006', NULL,
    'those rolled back are not');
SELECT ok(ringfence.guard('r1001', 1, 'b'), 'and are free');

SELECT * FROM finish();
ROLLBACK;
