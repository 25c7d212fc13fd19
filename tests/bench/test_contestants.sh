#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Of those that the bench compares us with, one that breaks down is told as not
# had, and the others are measured all the same.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
peers=$RF_BUILD/bench/peers

build() {
    env -u MAKEFLAGS -u MAKELEVEL make -s -C "$RF_ROOT/client" \
        BUILD="$RF_BUILD" "$peers"
}

# value NAME: what the bench says of it.
value() { awk -F '\t' -v name="peers.$1" '$1 == name { print $2 }' "$TMPDIR/out"; }

plan 5
ok "the bench builds" build
"$peers" 2 ringfence "$peers --ourselves" crash "sh -c 'read n; exit 3'" \
    other "$peers --ourselves" least "$peers --least" >"$TMPDIR/out"
is "it goes on when one has broken down" $? 0
is "that one is told as not had" "$(value crash)" "not had"
ok "the others are measured" test "$(value other)" -gt 0
ok "as is what every lock needs" test "$(value least)" -gt 0
