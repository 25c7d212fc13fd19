-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- What must hold afterwards, each a name and whether it does.
SET search_path = shop, public;

SELECT 'fences were raised, so that they could have fallen',
    count(*) > 0 FROM history WHERE became > was
UNION ALL
SELECT 'and claims committed', count(*) > 0 FROM claim
UNION ALL
SELECT 'no fence of a row fell', count(*) = 0
    FROM history WHERE became IS NULL OR became < was
UNION ALL
SELECT 'no resource is below a claim that was committed', count(*) = 0
    FROM claim WHERE fence > ringfence.high_water(resource)
UNION ALL
SELECT 'no claim went back', count(*) = 0
    FROM generate_series(1, 20) i
    WHERE ringfence.high_water('item:' || chr(96 + i)) < i
UNION ALL
SELECT 'no row is above its resource', count(*) = 0 FROM (
    SELECT sku, fence FROM by_both UNION ALL SELECT sku, fence FROM parts_both
    ) b WHERE fence > ringfence.high_water('item:' || sku)
UNION ALL
SELECT 'no row came or went', bool_and(n = 21) FROM (
    SELECT count(*) FROM by_column UNION ALL SELECT count(*) FROM by_both
    UNION ALL SELECT count(*) FROM by_resource
    UNION ALL SELECT count(*) FROM parts
    UNION ALL SELECT count(*) FROM parts_both) c(n)
UNION ALL
SELECT 'what is not named by any claim is as it was', bool_and(note = 'x')
    FROM by_resource
UNION ALL
SELECT 'audit finds what it found before', count(*) = 0 FROM (
    (SELECT * FROM ringfence.audit() EXCEPT TABLE hole)
    UNION ALL (TABLE hole EXCEPT SELECT * FROM ringfence.audit())) d
UNION ALL
SELECT 'the record is what it was', count(*) = 0 FROM (
    (TABLE ringfence.protection EXCEPT TABLE record)
    UNION ALL (TABLE record EXCEPT TABLE ringfence.protection)) d;
