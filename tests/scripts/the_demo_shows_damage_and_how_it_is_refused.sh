#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Runs the demo once, in a pipe, and reads its last table.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"

out=$TMPDIR/out
began=$SECONDS
"$RF_ROOT/examples/demo/run" 7 >"$out" 2>&1 </dev/null
status=$?
took=$((SECONDS - began))

# figure LABEL COLUMN: of the last table; column 1 is plain, 2 ringfence.
figure() {
    sed -n "s/^  $1  *\([0-9-]*\)  *\([0-9]*\)$/\\$2/p" "$out"
}
above_zero() { [ "${1:-0}" -gt 0 ]; }
clean_output() { ! LC_ALL=C grep -n '[^ -~]' "$out"; }
narrow() { ! grep -nE '^.{81}' "$out"; }
tells() { grep -q "$1" "$out"; }
# The README's picture of the demo, piece by piece between its dots.  Numbers
# and names differ from run to run, and so does where lines fold.
not_in_demo() {
    perl -0777 -e '
        sub shape {
            my $text = shift;
            $text =~ s/"[0-9a-f]{32}"/HOLDER/g;
            $text =~ s/\d+/N/g;
            $text =~ s/\s+/ /g;
            return $text;
        }
        my ($out, $readme) = (shape(scalar <>), scalar <>);
        my $picture = ($readme =~ /^```text\n(.*?)^```$/gms)[1];
        for (split /^ *\.\.\.\n/m, $picture) {
            my $piece = shape($_);
            print "$_\n" if index($out, $piece) < 0;
        }' "$out" "$RF_ROOT/README.md"
}
folder=$(sed -n 's/^Servers of its own in //p' "$out")

plan 24
ok "the demo ends well" test "$status" = 0
[ "$status" = 0 ] || sed 's/^/# /' "$out"
ok "in less than a minute" test "$took" -lt 60
ok "plain: coupons were oversold" above_zero "$(figure oversold 1)"
ok "plain: updates were lost" above_zero "$(figure 'lost updates' 1)"
is "plain: lost is what was sold beyond what the stock says" \
    "$(figure 'lost updates' 1)" "$(($(figure 'coupons sold, says the ledger' 1) - \
        $(figure 'coupons gone, says the stock' 1)))"
is "plain: nothing was refused" \
    "$(figure 'stale writes refused by PostgreSQL' 1)" 0
is "ringfence: every buyer has an answer" \
    "$(figure 'buyers who got an answer' 2)" 200
is "ringfence: 100 were promised a coupon" \
    "$(figure 'buyers promised a coupon' 2)" 100
is "ringfence: 100 coupons were sold" \
    "$(figure 'coupons sold, says the ledger' 2)" 100
is "ringfence: 100 coupons are gone" \
    "$(figure 'coupons gone, says the stock' 2)" 100
is "ringfence: nothing was oversold" "$(figure oversold 2)" 0
is "ringfence: no update was lost" "$(figure 'lost updates' 2)" 0
is "ringfence: no sale rests on an outdated read" \
    "$(figure 'sales computed from an outdated read' 2)" 0
is "ringfence: no fence fell" \
    "$(figure 'fences that fell, in order of commit' 2)" 0
ok "ringfence: stale writes were refused" \
    above_zero "$(figure 'stale writes refused by PostgreSQL' 2)"
ok "a stale write is shown with its SQLSTATE" tells 'RF001 fence is stale'
ok "and with its numbers" tells 'DETAIL: .*[0-9]'
ok "a number that was given out twice is told" tells 'fence [0-9]* again: .*(RF002)'
ok "an unfenced write is refused by the table" tells 'RF003: write is not fenced'
ok "no colours in a pipe" clean_output
ok "no line is wider than a terminal" narrow
ok "it says where its servers are" test -n "$folder"
ok "and leaves nothing of them behind" test ! -e "$folder"
is "the README shows what the demo prints" "$(not_in_demo)" ""
