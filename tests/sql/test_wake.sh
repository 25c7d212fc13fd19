#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Who waits for a lock is told when it is given back, and nobody else pays.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

plan 7

acquire() { ask "SELECT fence FROM ringfence.acquire('$1', 'h', '1 min')"; }
release() { ask "SELECT released FROM ringfence.release('$1', $2, 'h')"; }
told() { grep -c 'Asynchronous notification' "$(out waiter)"; }
waiters="SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
    AND objsubid = x'5257'::int AND mode = 'ShareLock'"

session waiter
tell waiter "SELECT ringfence.listen('r')" "SELECT ringfence.listen('r')"
settle waiter
is "a session that listens is seen" "$(ask "$waiters")" 1

acquire r >/dev/null
acquire s >/dev/null
release s 1 >/dev/null
settle waiter
is "another lock wakes nobody" "$(told)" 0
release r 1 >/dev/null
settle waiter
is "its own does" "$(told)" 1

acquire r >/dev/null
ask "BEGIN; SELECT ringfence.release('r', 2, 'h'); ROLLBACK" >/dev/null
settle waiter
is "not when it was not given back after all" "$(told)" 1
ask "SELECT ringfence.force_release('r', 2, 'stuck')" >/dev/null
settle waiter
is "taken by force wakes as well" "$(told)" 2

tell waiter "SELECT ringfence.unlisten('r')" "SELECT ringfence.unlisten('r')"
settle waiter
is "who listens no more is gone" "$(ask "$waiters")" 0
acquire r >/dev/null
release r 3 >/dev/null
settle waiter
is "and is not told" "$(told)" 2
