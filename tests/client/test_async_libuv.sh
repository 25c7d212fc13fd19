#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# The tests of locks in an event loop, in the loop of libuv instead of
# libevent's: what they promise is the library's, not a loop's.
set -u
. "$RF_ROOT/tests/lib/tap.sh"
in_loop() { RF_LOOP=$1 "$RF_BUILD/tests/$2"; }

plan 3
ok "locks are taken and given back" in_loop libuv test_async
ok "they are waited for and kept" in_loop libuv test_async_wait
is "a loop that is not known is none" "$(in_loop some test_async >"$TMPDIR/log" 2>&1; echo $?)" 99
