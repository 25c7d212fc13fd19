-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 9
BEGIN;
SELECT plan(10);

CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
INSERT INTO stock VALUES ('a', 5, 10), ('b', 5, 10);
SELECT ringfence.protect('stock', 'fence');

DECLARE c CURSOR FOR SELECT * FROM stock WHERE sku = 'a' FOR UPDATE;
FETCH c;
SELECT throws_ok($$UPDATE stock SET left_over = 1 WHERE CURRENT OF c$$,
    'RF003', NULL, 'WHERE CURRENT OF, not named');
SELECT throws_ok($$UPDATE stock SET fence = 4 WHERE CURRENT OF c$$,
    'RF001', NULL, 'WHERE CURRENT OF, stale');
SELECT throws_ok(
    $$UPDATE stock s SET left_over = v.n FROM (VALUES ('a', 1)) v(sku, n)
      WHERE v.sku = s.sku$$,
    'RF003', NULL, 'UPDATE FROM, not named');
SELECT throws_ok(
    $$UPDATE stock s SET fence = v.n FROM (VALUES ('a', 1)) v(sku, n)
      WHERE v.sku = s.sku$$,
    'RF001', NULL, 'UPDATE FROM, stale');
SELECT throws_ok($$UPDATE stock SET (fence, left_over) = ROW (4, 1)$$,
    'RF001', NULL, 'row assignment, stale');
SELECT lives_ok($$UPDATE stock SET (fence, left_over) = (SELECT 6, 1)$$,
    'row assignment names the fence');
SELECT throws_ok(
    $$WITH u AS (UPDATE stock SET left_over = 2 WHERE sku = 'a' RETURNING 1)
      SELECT * FROM u$$,
    'RF003', NULL, 'UPDATE inside WITH, not named');
SELECT throws_ok(
    $$WITH u AS (UPDATE stock SET fence = 7 WHERE sku = 'a' RETURNING 1)
      UPDATE stock SET left_over = 2 WHERE sku = 'b'$$,
    'RF003', NULL, 'one part that names it does not speak for another');
SELECT throws_ok(
    $$WITH u AS (UPDATE stock SET left_over = 2 WHERE sku = 'a' RETURNING 1)
      UPDATE stock SET fence = 7 WHERE sku = 'b'$$,
    'RF003', NULL, 'in either order');
CREATE FUNCTION two_parts() RETURNS void LANGUAGE plpgsql AS
    $$BEGIN
        WITH u AS (UPDATE stock SET fence = 7 WHERE sku = 'a' RETURNING 1)
        UPDATE stock SET left_over = 2 WHERE sku = 'b';
    END$$;
SELECT throws_ok('SELECT two_parts()',
    'RF003', NULL, 'nor inside a function');

SELECT * FROM finish();
ROLLBACK;
