-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 23
-- FOR PORTION OF, which would write a part of a row's period and insert the rest
-- anew, with the fence that the row had: no server knows it. One that does fails
-- here, and is not to be used before what it does is judged.
BEGIN;
SELECT plan(2);

SELECT throws_ok('UPDATE t FOR PORTION OF at FROM 1 TO 2 SET fence = 1',
    '42601', NULL, 'this server has no UPDATE FOR PORTION OF');
SELECT throws_ok('DELETE FROM t FOR PORTION OF at FROM 1 TO 2',
    '42601', NULL, 'nor DELETE');

SELECT * FROM finish();
ROLLBACK;
