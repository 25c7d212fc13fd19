-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(4);

INSERT INTO ringfence.registry VALUES ('r', 5, repeat('h', 200), now());
SELECT throws_ok($$SELECT ringfence.guard('r', 5, repeat('h', 128))$$,
    'RF002', NULL, 'a holder too long to be one equals nobody');
SELECT throws_ok($$SELECT ringfence.guard('r', 4)$$, 'RF001', NULL,
    'its fence counts');
SELECT ok(ringfence.guard('r', 6, 'a'), 'a newer one replaces it');
DELETE FROM ringfence.registry;
SELECT ok(ringfence.guard('s', 1, 'a'), 'an empty registry starts anew');

SELECT * FROM finish();
ROLLBACK;
