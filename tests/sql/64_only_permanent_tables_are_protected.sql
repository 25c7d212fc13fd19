-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 30, case 32
BEGIN;
SELECT plan(14);

CREATE TEMP TABLE passing (sku text, fence bigint);
CREATE UNLOGGED TABLE unlogged (sku text, fence bigint);
CREATE MATERIALIZED VIEW kept AS SELECT 1::bigint AS fence;
CREATE SEQUENCE numbers;
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE FOREIGN TABLE remote (sku text, fence bigint) SERVER nowhere;
CREATE TABLE parts (sku text, fence bigint) PARTITION BY LIST (sku);
CREATE TABLE mixed (sku text, fence bigint) PARTITION BY LIST (sku);
CREATE FOREIGN TABLE remote_part PARTITION OF parts FOR VALUES IN ('r')
    SERVER nowhere;
CREATE UNLOGGED TABLE unlogged_part PARTITION OF mixed FOR VALUES IN ('u');
CREATE INDEX an_index ON unlogged (sku);

SELECT throws_ok($$SELECT ringfence.protect('passing', 'fence')$$,
    'RF005', NULL, 'a temporary table is refused');
SELECT throws_ok($$SELECT ringfence.protect('unlogged', 'fence')$$,
    'RF005', NULL, 'an unlogged table is refused');
SELECT throws_ok($$SELECT ringfence.protect('kept', 'fence')$$,
    'RF005', NULL, 'a materialized view is refused');
SELECT throws_ok($$SELECT ringfence.protect('numbers', 'last_value')$$,
    'RF005', NULL, 'a sequence is refused');
SELECT throws_ok($$SELECT ringfence.protect('an_index', 'fence')$$,
    'RF005', NULL, 'an index is refused');
SELECT throws_ok($$SELECT ringfence.protect('remote', 'fence')$$,
    'RF005', NULL, 'a foreign table is refused');
SELECT throws_ok($$SELECT ringfence.protect('parts', 'fence')$$,
    'RF005', NULL, 'so is a table with a foreign partition');
SELECT throws_ok($$SELECT ringfence.protect('mixed', 'fence')$$,
    'RF005', NULL, 'or with an unlogged one');
SELECT throws_ok(
    $$SELECT ringfence.protect('pg_class', resource => 'r')$$,
    'RF005', NULL, 'a system catalog is refused');
SELECT throws_ok(
    $$SELECT ringfence.protect('information_schema.sql_parts',
        resource => 'r')$$,
    'RF005', NULL, 'so is the information schema');
SELECT throws_ok(
    $$SELECT ringfence.protect('ringfence.registry', 'fence')$$,
    'RF005', NULL, 'and our own');
SELECT is_empty('SELECT * FROM ringfence.protection', 'nothing is recorded');

CREATE TABLE stock (sku text, fence bigint);
SELECT ringfence.protect('stock', 'fence');
ALTER TABLE stock SET UNLOGGED;
SELECT is(problem, 'is unlogged: after a crash it is empty',
    'a table made unlogged later is found') FROM ringfence.audit();
SELECT lives_ok(remedy, 'the remedy runs') FROM ringfence.audit();

SELECT * FROM finish();
ROLLBACK;
