-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(10);

CREATE TABLE stock (sku text PRIMARY KEY, n int);
INSERT INTO stock VALUES ('sku-42', 3);

SELECT ok(ringfence.try_guard('r', 5, 'a'), 'the newest passes');
SAVEPOINT claimed;
SELECT is(ringfence.try_guard('r', 4, 'a'), false, 'a stale fence does not');
SELECT is(ringfence.try_guard('r', 5, 'b'), false,
    'nor a fence of another holder');
SELECT throws_ok($$SELECT ringfence.try_guard('r', 0)$$,
    'RF004', 'argument is invalid', 'an invalid argument is still an error');

UPDATE stock SET n = n - 1
    WHERE sku = 'sku-42' AND ringfence.try_guard('r', 4, 'a');
SELECT is(n, 3, 'an UPDATE with a stale fence touches no row') FROM stock;
UPDATE stock SET n = n - 1
    WHERE sku = 'sku-42' AND ringfence.try_guard('r', 5, 'a');
SELECT is(n, 2, 'one with the newest does') FROM stock;
UPDATE stock SET n = n - 1
    WHERE sku = 'sku-42' AND ringfence.try_guard('r', 6, 'b');
SELECT is(n, 1, 'so does one that brings a newer') FROM stock;
SELECT is(ringfence.fence('r'), 6::bigint, 'and claims it');

CREATE FUNCTION pg_temp.locks() RETURNS bigint LANGUAGE sql AS
    $$SELECT count(*) FROM pg_locks
        WHERE locktype = 'advisory' AND pid = pg_backend_pid()$$;
SELECT ringfence.guard('s', 5, 'a');
SELECT pg_temp.locks() AS before \gset
SELECT ringfence.try_guard('s', 4, 'a');
SELECT is(pg_temp.locks(), :before::bigint,
    'a refusal leaves the claims of the transaction as they are');
SELECT is(ringfence.fence('s'), 5::bigint, 'and its fence');

SELECT * FROM finish();
ROLLBACK;
