-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(12);

CREATE ROLE rf_owner;
CREATE ROLE rf_member IN ROLE rf_owner;
CREATE ROLE rf_other;
GRANT ALL ON SCHEMA public TO rf_owner;
CREATE TABLE stock (sku text, fence bigint);
INSERT INTO stock VALUES ('a', 5);
ALTER TABLE stock OWNER TO rf_owner;
GRANT ALL ON stock TO rf_other;
SELECT ringfence.protect('stock', 'fence');
SELECT ringfence.unprotect('stock');

SET ROLE rf_owner;
SELECT throws_ok($$SELECT ringfence.protect('stock', 'fence')$$,
    '42501', NULL, 'without a grant nobody protects');
RESET ROLE;

GRANT USAGE ON SCHEMA ringfence TO rf_owner, rf_other;
GRANT EXECUTE ON FUNCTION
    ringfence.protect(regclass, name, text, text),
    ringfence.unprotect(regclass) TO rf_owner, rf_other;
SET ROLE rf_other;
SELECT throws_ok($$SELECT ringfence.protect('stock', 'fence')$$,
    '42501', NULL, 'all rights on a table do not make its owner');
SELECT throws_ok($$SELECT ringfence.unprotect('stock')$$,
    '42501', NULL, 'nor to unprotect it');
RESET ROLE;

SET ROLE rf_owner;
SELECT lives_ok($$SELECT ringfence.protect('stock', 'fence')$$,
    'the owner protects, with USAGE and EXECUTE and nothing else');
SELECT throws_ok('UPDATE stock SET sku = sku', 'RF003', NULL,
    'and is held to it');
SELECT throws_ok('SELECT * FROM ringfence.protection', '42501', NULL,
    'the record is not the owner''s to read');
SELECT throws_ok('DELETE FROM ringfence.protection', '42501', NULL,
    'nor to write');
RESET ROLE;
SELECT is(protected_by, 'rf_owner', 'it says who asked')
FROM ringfence.protected;
SET ROLE rf_member;
SELECT lives_ok($$SELECT ringfence.protect('stock', 'fence', mode => 'observe')$$,
    'a member of the owning role is an owner');
SELECT is(current_user::text, 'rf_member', 'who stays who he is');
SELECT lives_ok($$SELECT ringfence.unprotect('stock')$$, 'and may end it');
RESET ROLE;
SELECT is_empty('SELECT * FROM ringfence.protection',
    'then the record is empty');

SELECT * FROM finish();
ROLLBACK;
