-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(9);

CREATE TABLE t (id int PRIMARY KEY, sku text);
SELECT ringfence.protect('t', resource => '{sku}');
SELECT ringfence.guard(repeat('x', 255), 1, 'h');

SELECT throws_ok($$INSERT INTO t VALUES (1, NULL)$$,
    'RF003', 'write is not fenced', 'NULL leaves a row without a resource');
SELECT throws_ok($$INSERT INTO t VALUES (1, '')$$,
    'RF004', 'argument is invalid', 'an empty resource is none');
SELECT throws_ok($$INSERT INTO t VALUES (1, E'a\tb')$$,
    'RF004', 'argument is invalid', 'control characters make none');
SELECT lives_ok($$INSERT INTO t VALUES (1, repeat('x', 255))$$,
    '255 bytes are a resource');
SELECT throws_ok($$INSERT INTO t VALUES (2, repeat('x', 256))$$,
    'RF004', 'argument is invalid', '256 bytes are none');
SELECT throws_ok($$INSERT INTO t VALUES (2, repeat('x', 10000))$$,
    'RF004', 'argument is invalid', 'nor are 10,000');
SELECT throws_ok($$INSERT INTO t
    SELECT 2, string_agg(md5(i::text), '') FROM generate_series(1, 9999) i$$,
    'RF004', 'argument is invalid', 'nor a value kept out of line');
SELECT throws_ok($$UPDATE t SET sku = repeat('x', 256)$$,
    'RF004', 'argument is invalid', 'an UPDATE does not lengthen it');
SELECT throws_ok($$UPDATE t SET sku = NULL$$,
    'RF003', 'write is not fenced', 'nor clear it');

SELECT * FROM finish();
ROLLBACK;
