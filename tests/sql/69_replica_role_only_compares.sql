-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 25, case 36
BEGIN;
SELECT plan(20);

CREATE TABLE parent (id int PRIMARY KEY);
INSERT INTO parent VALUES (1), (2);
CREATE TABLE stock (id int REFERENCES parent ON DELETE CASCADE, fence bigint,
    left_over int);
INSERT INTO stock VALUES (1, 5, 10), (2, NULL, 10);
CREATE TABLE parts (id int, fence bigint) PARTITION BY LIST (id);
CREATE TABLE part PARTITION OF parts DEFAULT;
CREATE TABLE part2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts VALUES (1, 5);
CREATE TABLE line (id int);
SELECT ringfence.protect('line', resource => 'l:{id}');
CREATE TABLE both_of (id int, fence bigint);
INSERT INTO both_of VALUES (1, 5);
CREATE TABLE keyed (id int PRIMARY KEY, fence bigint);
INSERT INTO keyed VALUES (1, 5);
SELECT ringfence.protect('keyed', 'fence');
SELECT ringfence.protect('stock', 'fence');
SELECT ringfence.protect('parts', 'fence');
SELECT ringfence.guard('r:1', 5, 'h');
SELECT ringfence.protect('both_of', 'fence', 'r:{id}');
SET LOCAL session_replication_role = replica;

SELECT throws_ok('UPDATE stock SET fence = 4', 'RF001', NULL,
    'a lower fence is refused');
SELECT throws_ok('UPDATE parts SET fence = 4', 'RF001', NULL,
    'in a partition, too');
SELECT throws_ok('UPDATE both_of SET fence = 4', 'RF001', NULL,
    'with a resource, too');
SELECT throws_ok('UPDATE stock SET fence = NULL WHERE id = 1', 'RF001', NULL,
    'a fence does not vanish');
SELECT throws_ok('UPDATE both_of SET fence = NULL', 'RF001', NULL,
    'with a resource, too');
SELECT lives_ok('UPDATE stock SET left_over = 9',
    'the fence need not be named: a replicated change names what it likes');
SELECT lives_ok('UPDATE parts SET fence = 6',
    'a higher fence passes, in a partition as well');
SELECT throws_ok('UPDATE parts SET id = 2, fence = 5', 'RF001', NULL,
    'a row does not go back on its way to another');
SELECT lives_ok('UPDATE parts SET id = 2, fence = 7', 'but goes on');
SELECT lives_ok('UPDATE both_of SET fence = 9', 'no claim is asked for');
SELECT lives_ok($$INSERT INTO both_of VALUES (2, 1)$$, 'nor for INSERT');
SELECT lives_ok('INSERT INTO line VALUES (1)', 'nor by a resource alone');
SELECT lives_ok('UPDATE line SET id = 2', 'nor for its UPDATE');
SELECT lives_ok('DELETE FROM line', 'nor for its DELETE');
SELECT lives_ok('DELETE FROM stock WHERE id = 1', 'DELETE passes');
SELECT lives_ok('DELETE FROM parts', 'from partitions, too');
SELECT lives_ok('UPDATE keyed SET id = 2', 'a key changes as it did there');
SELECT lives_ok('TRUNCATE both_of', 'TRUNCATE passes');
SELECT lives_ok('DELETE FROM parent WHERE id = 2',
    'foreign keys are off in this role, as ever');
SELECT isnt_empty('SELECT * FROM stock WHERE id = 2',
    'so the cascade does not happen');

SELECT * FROM finish();
ROLLBACK;
