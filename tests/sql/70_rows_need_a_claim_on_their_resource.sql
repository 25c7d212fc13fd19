-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(19);

CREATE TABLE line (id int PRIMARY KEY, account text, amount int);
INSERT INTO line VALUES (1, 'ann', 1), (2, 'bob', 1);
SELECT ringfence.protect('line', resource => 'account:{account}');

SELECT throws_ok($$INSERT INTO line VALUES (3, 'ann', 1)$$,
    'RF003', 'write is not fenced', 'INSERT without a claim is refused');
SELECT throws_ok($$UPDATE line SET amount = 2 WHERE id = 1$$,
    'RF003', 'write is not fenced', 'so is UPDATE');
SELECT throws_ok($$DELETE FROM line WHERE id = 1$$,
    'RF003', 'write is not fenced', 'so is DELETE');

SELECT ringfence.guard('account:ann', 3, 'h');
SELECT lives_ok($$INSERT INTO line VALUES (3, 'ann', 1)$$,
    'with a claim INSERT passes');
SELECT lives_ok($$UPDATE line SET amount = 2 WHERE account = 'ann'$$,
    'so does UPDATE');
SELECT lives_ok($$DELETE FROM line WHERE id = 3$$, 'so does DELETE');
SELECT throws_ok($$UPDATE line SET amount = 2$$,
    'RF003', 'write is not fenced',
    'one row of another resource is enough to refuse the statement');
SELECT throws_ok($$UPDATE line SET account = 'bob' WHERE id = 1$$,
    'RF003', 'write is not fenced',
    'a row does not go over to a resource that is not claimed');
SELECT throws_ok($$UPDATE line SET account = 'ann' WHERE id = 2$$,
    'RF003', 'write is not fenced', 'nor does one come from there');
SELECT ringfence.guard('account:bob', 1, 'h');
SELECT lives_ok($$UPDATE line SET account = 'ann' WHERE id = 2$$,
    'with both claimed it does');

-- What was found for one row is not taken for the next.
SELECT throws_ok($$INSERT INTO line VALUES (5, 'ann', 1), (6, 'ned', 1)$$,
    'RF003', 'write is not fenced', 'another name of the same length');
SELECT throws_ok($$INSERT INTO line VALUES (5, 'ann', 1), (6, 'anna', 1)$$,
    'RF003', 'write is not fenced', 'a longer one that begins alike');
SELECT throws_ok($$INSERT INTO line VALUES (5, 'ann', 1), (6, 'an', 1)$$,
    'RF003', 'write is not fenced', 'a shorter one that begins alike');
SELECT ringfence.guard('account:', 1, 'h');
SELECT throws_ok($$INSERT INTO line VALUES (5, 'ann', 1), (6, NULL, 1)$$,
    'RF003', 'write is not fenced', 'none at all, which is not an empty one');

-- A NULL is not left out of the name, whatever else is in it.
CREATE TABLE price (sku text, region text);
SELECT ringfence.protect('price', resource => '{sku} all');
SELECT ringfence.guard(' all', 1, 'h');
SELECT throws_ok($$INSERT INTO price VALUES (NULL)$$,
    'RF003', 'write is not fenced', 'nor the rest of the name alone');
SELECT lives_ok($$INSERT INTO price VALUES ('')$$,
    'which is the resource of an empty value');
SELECT throws_ok($$UPDATE price SET sku = NULL$$,
    'RF003', 'write is not fenced', 'and no way to make it NULL');

SAVEPOINT s;
SELECT ringfence.guard('account:carl', 1, 'h');
ROLLBACK TO s;
SELECT throws_ok($$INSERT INTO line VALUES (4, 'carl', 1)$$,
    'RF003', 'write is not fenced',
    'a claim that was rolled back is none');
SELECT results_eq('SELECT * FROM line ORDER BY id',
    $$VALUES (1, 'ann', 2), (2, 'ann', 1)$$,
    'only the fenced writes are in the table');

SELECT * FROM finish();
ROLLBACK;
