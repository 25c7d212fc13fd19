# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# worker.pl SEED: SQL of sections that commit, while sqlsmith is at work
#
# For psql, without end. About half of the fences are too low, some of the
# writes unfenced: the server has to sort them out.
use strict;
use warnings;

srand(shift);
$| = 1;
my $newest = 30;
my @tables = qw(by_column by_both parts parts_both observed);
while (1) {
    my $sku   = chr(97 + int rand 20);
    my $fence = rand() < 0.5 ? ++$newest : 1 + int rand $newest;
    my $table = $tables[rand @tables];
    my $named = rand() < 0.8 ? ", fence = $fence" : '';
    my $where = rand() < 0.8 ? "sku = '$sku'" : 'true';
    print <<"SQL";
BEGIN;
SELECT ringfence.guard('item:$sku', $fence, 'worker');
INSERT INTO shop.claim VALUES ('item:$sku', $fence);
UPDATE shop.$table SET amount = amount + 1$named WHERE $where;
COMMIT;
SELECT pg_sleep(0.05);
SQL
}
