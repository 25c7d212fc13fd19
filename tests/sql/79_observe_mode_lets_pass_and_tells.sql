-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(18);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10), ('b', 5, 10);
CREATE TABLE line (sku text);
SELECT ringfence.protect('stock', 'fence', mode => 'observe');
SELECT ringfence.protect('line', resource => 'line:{sku}', mode => 'observe');
CREATE TEMP TABLE before AS SELECT observed FROM ringfence.stats();
CREATE TEMP TABLE triggers_before AS
    SELECT oid FROM pg_trigger WHERE tgname LIKE '~ringfence%';

SELECT lives_ok('UPDATE stock SET left_over = 1', 'not named: let through');
SELECT lives_ok('UPDATE stock SET fence = 4', 'stale: let through');
SELECT lives_ok('UPDATE stock SET fence = NULL', 'NULL: let through');
SELECT lives_ok($$UPDATE stock SET sku = sku || '2', fence = 9$$,
    'key changed: let through');
SELECT lives_ok($$DELETE FROM stock WHERE sku = 'a2'$$, 'DELETE: let through');
SELECT lives_ok('TRUNCATE stock', 'TRUNCATE: let through');
SELECT lives_ok($$INSERT INTO line VALUES ('a'), (NULL), (repeat('x', 300))$$,
    'not claimed, no resource, no valid name: let through');
SELECT lives_ok('ALTER TABLE line RENAME sku TO article',
    'a column can be renamed');
SELECT lives_ok($$INSERT INTO line VALUES ('a')$$,
    'set up wrongly: let through');
SELECT is(s.observed - b.observed, (1 + 2 + 2 + 2 + 1 + 1 + 3 + 1)::bigint,
    'each wrong row is counted, and each wrong statement')
FROM ringfence.stats() s, before b;

CREATE TABLE both_of (id int, fence bigint);
SELECT ringfence.protect('both_of', 'fence', 'both:{id}', mode => 'observe');
SELECT ringfence.guard('both:1', 5, 'h');
CREATE TEMP TABLE now AS SELECT observed FROM ringfence.stats();
SELECT lives_ok('INSERT INTO both_of VALUES (1, NULL), (1, 0), (1, 4), (1, 5)',
    'claimed, but without the claim''s fence: let through');
SELECT is(s.observed - n.observed, 3::bigint, 'each counted once')
FROM ringfence.stats() s, now n;
DROP TABLE both_of;

CREATE TABLE parts (region text, sku text, fence bigint,
    PRIMARY KEY (region, sku)) PARTITION BY LIST (region);
CREATE TABLE part PARTITION OF parts DEFAULT;
INSERT INTO parts VALUES ('eu', 'a', 5);
SELECT ringfence.protect('parts', 'fence', mode => 'observe');
ALTER TABLE parts RENAME sku TO article;
SELECT lives_ok($$UPDATE parts SET article = 'b', fence = 6$$,
    'a renamed column of a key: let through');
DROP TABLE parts;

INSERT INTO stock VALUES ('c', 5, 10);
SELECT ringfence.protect('stock', 'fence', mode => 'enforce');
SELECT set_eq(
    $$SELECT oid FROM pg_trigger WHERE tgname LIKE '~ringfence%'$$,
    'SELECT oid FROM triggers_before',
    'the mode is switched without touching a trigger');
SELECT throws_ok('UPDATE stock SET fence = 4', 'RF001', NULL,
    'and holds at once');
SELECT ringfence.protect('stock', 'fence', mode => 'observe');
SELECT lives_ok('UPDATE stock SET fence = 4', 'and back');
SELECT throws_ok($$SELECT ringfence.protect('stock', 'fence', mode => 'off')$$,
    'RF004', 'argument is invalid', 'there are no other modes');
SELECT throws_ok($$SELECT ringfence.protect('stock', 'fence', mode => NULL)$$,
    'RF004', 'argument is invalid', 'and one must be given');

SELECT * FROM finish();
ROLLBACK;
