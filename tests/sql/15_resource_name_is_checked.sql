-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(18);

SELECT throws_ok($$SELECT ringfence.guard('', 1)$$,
    'RF004', 'argument is invalid', 'empty');
SELECT throws_ok($$SELECT ringfence.guard(NULL, 1)$$,
    'RF004', 'argument is invalid', 'null');
SELECT ok(ringfence.guard(repeat('x', 255), 1), '255 bytes');
SELECT throws_ok($$SELECT ringfence.guard(repeat('x', 256), 1)$$,
    'RF004', 'argument is invalid', '256 bytes');
SELECT throws_ok($$SELECT ringfence.guard(repeat('é', 128), 1)$$,
    'RF004', 'argument is invalid', '128 characters in 256 bytes');
SELECT throws_ok($$SELECT ringfence.guard(repeat('x', 10000000), 1)$$,
    'RF004', 'argument is invalid', 'ten million bytes');
SELECT ok(ringfence.guard('Ünïcode: 在庫 🔒', 1), 'any script');
SELECT ok(ringfence.guard($$ {a} %s \ ' " $$, 1), 'any punctuation');
SELECT throws_ok(format('SELECT ringfence.guard(%L, 1)', 'a' || chr(c) || 'b'),
    'RF004', 'argument is invalid', 'control character ' || c)
    FROM unnest(ARRAY[1, 9, 10, 13, 31, 127, 128, 159]) AS c;
SELECT ok(ringfence.guard('a' || chr(160) || 'b', 1), 'U+00A0 is none');
SELECT is(count(*), 4::bigint, 'nothing else was stored')
    FROM ringfence.registry;

SELECT * FROM finish();
ROLLBACK;
