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

# One at a time, and undone again: what sqlsmith can't say, such as TRUNCATE, and
# what it may not hit upon in a few minutes.
my @chores = (
    q{TRUNCATE shop.parts_a},
    q{SELECT ringfence.guard('one', 9999999, 'chore'); TRUNCATE shop.one_resource},
    q{INSERT INTO shop.one_resource VALUES (1)},
    q{SELECT ringfence.guard('item:a', 9999999, 'chore'),
        ringfence.fence('item:a'), ringfence.once('item:a', 'chore')},
    q{SELECT ringfence.try_guard('item:b', 1, 'chore')},
    q{SELECT ringfence.retire('0', 5)},
    q{SELECT ringfence.expire_receipts('0', 5)},
    q{SELECT ringfence.reset('item:c', 1)},
    q{SELECT ringfence.stats()},
    q{SELECT ringfence.protect('shop.smiths', 'fence')},
    q{SELECT ringfence.unprotect('shop.by_column')},
    q{SELECT ringfence.acquire('item:d', 'chore', '1 min')},
    q{SELECT ringfence.reissue('item:d', 1, 'chore', 5)},
    q{SELECT ringfence.renew('item:d', 1, 'chore', '1 min')},
    q{SELECT ringfence.release('item:d', 1, 'chore')},
    q{SELECT ringfence.force_release('item:d', 1, 'chore')},
    q{SELECT ringfence.listen('item:d')},
    q{SELECT ringfence.unlisten('item:d')},
    q{SELECT ringfence.protect_call('shop.parts'::regclass)},
);
print "SET lock_timeout = '200ms';\n";
while (1) {
    my $chore = $chores[rand @chores];
    print "BEGIN;\n$chore;\nROLLBACK;\n";

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
