#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# The demo with locks from PostgreSQL alone: the usual lock table does the same
# damage as the usual Redis lock, and the fence refuses the same writes.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"

out=$TMPDIR/out
SOURCE=postgresql "$RF_ROOT/examples/demo/run" 7 >"$out" 2>&1 </dev/null
status=$?

# figure LABEL COLUMN: of the last table; column 1 is plain, 2 ringfence.
figure() {
    sed -n "s/^  $1  *\([0-9-]*\)  *\([0-9]*\)$/\\$2/p" "$out"
}
above_zero() { [ "${1:-0}" -gt 0 ]; }
silent_of_redis() { ! grep -i redis "$out"; }
refuses_paper() {
    ! SOURCE=paper "$RF_ROOT/examples/demo/run" >"$TMPDIR/no" 2>&1 &&
        grep -q 'not paper' "$TMPDIR/no"
}

plan 8
ok "the demo ends well" test "$status" = 0
[ "$status" = 0 ] || sed 's/^/# /' "$out"
ok "plain: updates were lost" above_zero "$(figure 'lost updates' 1)"
is "ringfence: no update was lost" "$(figure 'lost updates' 2)" 0
is "ringfence: nothing was oversold" "$(figure oversold 2)" 0
is "ringfence: 100 coupons were sold" \
    "$(figure 'coupons sold, says the ledger' 2)" 100
ok "ringfence: stale writes were refused" \
    above_zero "$(figure 'stale writes refused by PostgreSQL' 2)"
ok "there is no Redis in the story" silent_of_redis
ok "another source is refused" refuses_paper
