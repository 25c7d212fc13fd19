-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 19
BEGIN;
SELECT plan(18);

CREATE TABLE stock (
    region text, sku text, fence bigint, PRIMARY KEY (region, sku)
) PARTITION BY LIST (region);
CREATE TABLE stock_eu PARTITION OF stock FOR VALUES IN ('eu');
CREATE TABLE stock_us (fence bigint, gone int, sku text NOT NULL,
    region text NOT NULL, PRIMARY KEY (region, sku));
ALTER TABLE stock_us DROP COLUMN gone;
ALTER TABLE stock ATTACH PARTITION stock_us FOR VALUES IN ('us');
INSERT INTO stock VALUES ('eu', 'a', 9), ('eu', 'b', 9), ('us', 'c', 9);
SELECT ringfence.protect('stock', 'fence');

SELECT throws_ok($$UPDATE stock SET region = 'us', fence = 1
                   WHERE sku = 'a'$$,
    'RF001', 'fence is stale', 'a move with a lower fence is refused');
SELECT throws_ok($$UPDATE stock SET region = 'us' WHERE sku = 'a'$$,
    'RF003', 'write is not fenced', 'one that does not name it is refused');
SELECT lives_ok($$UPDATE stock SET region = 'us', fence = 10
                  WHERE sku = 'a'$$,
    'a greater fence passes');
SELECT lives_ok($$UPDATE stock SET region = 'eu', fence = 10
                  WHERE sku = 'a'$$,
    'and back, from other column numbers');
SELECT throws_ok($$UPDATE stock SET region = 'us', sku = 'z', fence = 11
                   WHERE sku = 'a'$$,
    'RF003', 'write is not fenced',
    'what is not the partition key must not change on the way');
SELECT throws_ok('DELETE FROM stock', 'RF003', 'write is not fenced',
    'DELETE is refused, even after a move');
SELECT throws_ok('DELETE FROM stock_us', 'RF003', 'write is not fenced',
    'also from the partition itself');
SELECT throws_ok('UPDATE stock_us SET fence = 1', 'RF001', 'fence is stale',
    'UPDATE of the partition itself is judged');

-- A move that fails after it was let through leaves no free ticket behind.
CREATE FUNCTION stop_row() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN RAISE 'stopped'; END$$;
CREATE TRIGGER stop BEFORE INSERT ON stock_us
    FOR EACH ROW EXECUTE FUNCTION stop_row();
SELECT throws_ok($$UPDATE stock SET region = 'us', fence = 11
                   WHERE sku = 'b'$$, 'P0001', 'stopped',
    'a move can fail for other reasons');
SELECT throws_ok($$DELETE FROM stock WHERE sku = 'b'$$,
    'RF003', 'write is not fenced', 'the row then is no easier to delete');
DROP TRIGGER stop ON stock_us;
SELECT throws_ok($$DO 'BEGIN
        UPDATE stock SET fence = 11 WHERE sku = ''b'';
        DELETE FROM stock WHERE sku = ''b'';
    END'$$, 'RF003', 'write is not fenced',
    'nor is one that was updated before, in the same transaction');
SELECT throws_ok($$WITH u AS (UPDATE stock SET fence = 11 WHERE sku = 'a'
                       RETURNING 1)
                   DELETE FROM stock WHERE sku = 'b'
                       AND (SELECT count(*) FROM u) = 1$$,
    'RF003', 'write is not fenced', 'nor another, in the same statement');

-- Each row of a statement is judged, not only the first.
INSERT INTO stock VALUES ('us', 'd', 9);
SELECT throws_ok($$UPDATE stock SET fence = 11,
                   sku = CASE sku WHEN 'd' THEN 'z' ELSE sku END$$,
    'RF003', 'write is not fenced', 'the key of the last row is kept, too');
SELECT throws_ok($$UPDATE stock SET fence = CASE sku WHEN 'd' THEN 8 ELSE 11 END,
                   region = 'eu' WHERE region = 'us'$$,
    'RF001', 'fence is stale', 'and its fence, when they all move');
SELECT lives_ok('UPDATE stock SET fence = fence', 'rows that are right pass');

SELECT ringfence.protect('stock', 'fence', 'stock:{sku}');
SELECT ringfence.guard('stock:b', 12, 'h');
SELECT lives_ok($$UPDATE stock SET region = 'us', fence = 12
                  WHERE sku = 'b'$$,
    'with a resource, a claimed row moves');
SELECT throws_ok($$UPDATE stock SET region = 'us', fence = 12
                   WHERE sku = 'a'$$,
    'RF003', 'write is not fenced', 'and one not claimed does not');
SELECT results_eq('SELECT sku, region, fence FROM stock ORDER BY sku',
    $$VALUES ('a', 'eu', 10::bigint), ('b', 'us', 12), ('c', 'us', 9),
            ('d', 'us', 9)$$,
    'only the fenced writes are in the table');

SELECT * FROM finish();
ROLLBACK;
