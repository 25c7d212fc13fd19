-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 24
BEGIN;
SELECT plan(17);

CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (
    parent int REFERENCES parent ON UPDATE CASCADE ON DELETE CASCADE,
    fence bigint);
CREATE TABLE other (
    parent int REFERENCES parent ON UPDATE CASCADE ON DELETE SET NULL,
    fence bigint) PARTITION BY HASH (parent);
CREATE TABLE other_0 PARTITION OF other
    FOR VALUES WITH (MODULUS 1, REMAINDER 0);
INSERT INTO parent VALUES (1), (2);
INSERT INTO child VALUES (1, 5), (2, NULL), (2, 0);
INSERT INTO other VALUES (1, 5), (2, NULL);
SELECT ringfence.protect('child', 'fence');
SELECT ringfence.protect('other', 'fence');

SELECT lives_ok('UPDATE parent SET id = id + 10', 'ON UPDATE CASCADE passes');
SELECT results_eq('SELECT * FROM child ORDER BY 1, 2',
    'VALUES (11, 5::bigint), (12, 0), (12, NULL)', 'and is carried out');
SELECT lives_ok('DELETE FROM parent WHERE id = 11', 'ON DELETE CASCADE passes');
SELECT is_empty('SELECT * FROM child WHERE parent = 11',
    'and is carried out');
SELECT results_eq('SELECT parent FROM other ORDER BY 1',
    'VALUES (12), (NULL)', 'ON DELETE SET NULL as well');
SELECT throws_ok('DELETE FROM child', 'RF003', NULL,
    'a DELETE of the child itself does not pass');
SELECT throws_ok('UPDATE child SET parent = 12', 'RF003', NULL,
    'nor an UPDATE');

-- What a trigger does meanwhile is somebody's write, not the foreign key's.
CREATE TABLE stock (sku text PRIMARY KEY, fence bigint);
INSERT INTO stock VALUES ('a', 5);
SELECT ringfence.protect('stock', 'fence');
CREATE FUNCTION smuggle() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN UPDATE stock SET sku = sku; RETURN OLD; END$$;
CREATE TRIGGER smuggle BEFORE DELETE ON child
    FOR EACH ROW EXECUTE FUNCTION smuggle();
SELECT throws_ok('DELETE FROM parent WHERE id = 12', 'RF003', NULL,
    'a trigger inside the cascade is judged');
DROP TRIGGER smuggle ON child;

CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN NEW.fence = NULLIF(NEW.fence - 2, 3); RETURN NEW; END$$;
CREATE TABLE third (parent int REFERENCES parent ON UPDATE CASCADE,
    fence bigint);
INSERT INTO third VALUES (12, 9);
SELECT ringfence.protect('third', 'fence');
CREATE TRIGGER meddle BEFORE UPDATE ON third
    FOR EACH ROW EXECUTE FUNCTION meddle();
SELECT throws_ok('UPDATE parent SET id = 13 WHERE id = 12', 'RF001', NULL,
    'nor one that lowers the fence of the row on its way');
ALTER TABLE third DISABLE TRIGGER ALL;
UPDATE third SET fence = 5;
ALTER TABLE third ENABLE TRIGGER ALL;
SELECT throws_ok('UPDATE parent SET id = 13 WHERE id = 12', 'RF004', NULL,
    'or clears it');
DROP TABLE third;

-- With a resource, a cascade is a write like any other: it can be claimed.
SELECT ringfence.protect('child', resource => 'parent:{parent}');
SELECT throws_ok('DELETE FROM parent WHERE id = 12', 'RF003', NULL,
    'with a resource, the cascade needs the claim');
SELECT results_eq('SELECT count(*) FROM child', 'VALUES (2::bigint)',
    'and parent and child both stay');
SELECT ringfence.guard('parent:12', 1, 'h');
SELECT lives_ok('DELETE FROM parent WHERE id = 12', 'and passes with it');
SELECT is_empty('SELECT * FROM child', 'and is carried out');

CREATE TABLE both_of (parent int REFERENCES parent ON UPDATE CASCADE,
    fence bigint);
INSERT INTO parent VALUES (21);
INSERT INTO both_of VALUES (21, 5);
SELECT ringfence.protect('both_of', 'fence', 'parent:{parent}');
SELECT ringfence.guard('parent:21', 5, 'h');
SELECT throws_ok('UPDATE parent SET id = 22 WHERE id = 21', 'RF003', NULL,
    'with a column as well, it needs the claims of both names');
SELECT ringfence.guard('parent:22', 5, 'h');
SELECT lives_ok('UPDATE parent SET id = 22 WHERE id = 21',
    'and then need not name the column');
SELECT results_eq('TABLE both_of', 'VALUES (22, 5::bigint)',
    'which stays as it was');

SELECT * FROM finish();
ROLLBACK;
