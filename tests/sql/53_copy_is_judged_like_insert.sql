-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
-- case 15
BEGIN;
SELECT plan(5);

CREATE TABLE line (sku text, fence bigint);
SELECT ringfence.protect('line', 'fence');
SELECT lives_ok($$COPY line FROM PROGRAM 'printf "a\t5\nb\t\\N\n"'$$,
    'by column alone COPY passes, since there is nothing to compare with');

SELECT ringfence.protect('line', resource => 'stock:{sku}');
SELECT throws_ok($$COPY line FROM PROGRAM 'printf "a\t5\nb\t5\n"'$$,
    'RF003', 'write is not fenced', 'with a resource it needs the claims');
SELECT ringfence.guard('stock:a', 1, 'h');
SELECT throws_ok($$COPY line FROM PROGRAM 'printf "a\t5\nb\t5\n"'$$,
    'RF003', 'write is not fenced', 'of every row');
SELECT ringfence.guard('stock:b', 1, 'h');
SELECT lives_ok($$COPY line FROM PROGRAM 'printf "a\t5\nb\t5\n"'$$,
    'and passes with all of them');
SELECT is((SELECT count(*) FROM line), 4::bigint, 'every row is there');

SELECT * FROM finish();
ROLLBACK;
