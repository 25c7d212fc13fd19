-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(7);

-- What cannot be judged any more.
CREATE TABLE changed (id int, fence bigint);
CREATE TABLE parts (id int, fence bigint) PARTITION BY LIST (id);
CREATE TABLE part PARTITION OF parts DEFAULT;
CREATE TABLE part2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO changed VALUES (1, 5);
INSERT INTO parts VALUES (1, 5);
SELECT ringfence.protect('changed', 'fence', mode => 'observe');
SELECT ringfence.protect('parts', 'fence', mode => 'observe');
ALTER TABLE changed RENAME fence TO height;
ALTER TABLE parts RENAME fence TO height;
SELECT lives_ok('UPDATE changed SET height = 4',
    'a fence column that is gone: let through, and its going back as well');
SELECT results_eq('SELECT height FROM changed', 'VALUES (4::bigint)',
    'and written');
SELECT lives_ok('UPDATE parts SET height = 4', 'in partitions, too');
SELECT lives_ok('UPDATE parts SET id = 2, height = 3',
    'and from one to another');
SELECT results_eq('SELECT height FROM part2', 'VALUES (3::bigint)',
    'which is written as well');

-- Claimed, but with another number than the row is to bear.
CREATE TABLE both_of (id int, fence bigint);
INSERT INTO both_of VALUES (1, 5);
SELECT ringfence.protect('both_of', 'fence', 'r:{id}', mode => 'observe');
SELECT ringfence.guard('r:1', 7, 'h');
SELECT lives_ok('UPDATE both_of SET fence = 6',
    'a fence that differs from the claim: let through');
SELECT results_eq('SELECT fence FROM both_of', 'VALUES (6::bigint)',
    'and written');

SELECT * FROM finish();
ROLLBACK;
