-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- One campaign with 100 coupons left, a ledger of sales, and what was said to
-- the buyers.  Created twice, once per run, in a schema named by :run.
CREATE SCHEMA :run;
SET search_path = :run;

CREATE TABLE campaign (
    id     text PRIMARY KEY,
    remaining int NOT NULL CHECK (remaining >= 0),
    fence  bigint
);
INSERT INTO campaign VALUES ('spring', 100);

-- The plain run's lock, where there is no Redis.
CREATE TABLE lock_table (
    name         text PRIMARY KEY,
    token        text NOT NULL,
    locked_until timestamptz NOT NULL
);

-- n is drawn while the row of campaign is locked, and that lock is held until
-- commit: the order of n is the order of the commits.
CREATE TABLE sale (
    n           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    campaign    text NOT NULL REFERENCES campaign,
    buyer       int NOT NULL,
    worker      int NOT NULL,
    left_before int NOT NULL,
    left_after  int NOT NULL,
    price       int NOT NULL,
    fence       bigint
);

CREATE TABLE refusal (
    buyer    int NOT NULL,
    worker   int NOT NULL,
    fence    bigint,
    status   text NOT NULL,
    sqlstate text NOT NULL,
    message  text NOT NULL,
    detail   text NOT NULL
);

CREATE TABLE promise (
    buyer  int PRIMARY KEY,
    answer text NOT NULL CHECK (answer IN ('sold', 'sold out'))
);

-- Every figure of the last table, from the rows alone.  A sale is outdated when
-- it was computed from something else than the sale before it left behind.
CREATE VIEW verdict AS
WITH step AS (
    SELECT *,
           lag(left_after, 1, 100) OVER (ORDER BY n) AS left_truly,
           lag(fence) OVER (ORDER BY n) AS fence_before
    FROM sale
), from_sale AS (
    SELECT count(*) AS sold,
           greatest(count(*) - 100, 0) AS oversold,
           count(*) - count(DISTINCT buyer) AS sold_twice,
           count(*) FILTER (WHERE left_before <> left_truly) AS outdated,
           count(*) FILTER (WHERE fence IS NULL) AS unfenced,
           CASE WHEN count(fence) > 0
                THEN count(*) FILTER (WHERE fence < fence_before) END AS fell
    FROM step
), from_campaign AS (
    SELECT 100 - remaining AS taken FROM campaign
), from_promise AS (
    SELECT count(*) AS answered,
           count(*) FILTER (WHERE answer = 'sold') AS promised
    FROM promise
), unmatched AS (
    SELECT count(*) AS unmatched
    FROM (SELECT buyer FROM promise WHERE answer = 'sold') p
    FULL JOIN sale s USING (buyer)
    WHERE p.buyer IS NULL OR s.buyer IS NULL
), from_refusal AS (
    SELECT count(*) FILTER (WHERE sqlstate LIKE 'RF%') AS refused,
           count(*) FILTER (WHERE status = 'RF_LOST') AS stopped,
           count(*) FILTER (WHERE status IN ('RF_UNKNOWN', 'RF_RETRY')) AS cut
    FROM refusal
)
SELECT *, sold - taken AS lost, unmatched + sold_twice AS broken
FROM from_sale, from_campaign, from_promise, unmatched, from_refusal;
