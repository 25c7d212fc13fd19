-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(6);

INSERT INTO ringfence.registry VALUES ('r', 5, repeat('h', 200), now());
SELECT throws_ok($$SELECT ringfence.guard('r', 5, repeat('h', 128))$$,
    'RF002', NULL, 'a holder too long to be one equals nobody');
SELECT throws_ok($$SELECT ringfence.guard('r', 4)$$, 'RF001', NULL,
    'its fence counts');
SELECT ok(ringfence.guard('r', 6, 'a'), 'a newer one replaces it');
DELETE FROM ringfence.registry;
SELECT ok(ringfence.guard('s', 1, 'a'), 'an empty registry starts anew');

INSERT INTO ringfence.registry VALUES ('t', 7, 'a', now());
SELECT ok(ringfence.guard('t', 7, 'a'),
    'one written by this very transaction is believed, too');
SELECT throws_ok($$SELECT ringfence.guard('t', 7, 'b')$$, 'RF002', NULL,
    'and nobody else is let in');

SELECT * FROM finish();
ROLLBACK;
