# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: a holder stops just after its library found the lock alive; the lock runs out, another one works, the first goes on.
# Holds: the write it was about to send is refused; both believed, one wrote.
# Seen: commit order in the log of changes; what each was told.
# Overlap: yes
drill() {
    worker first ttl=400 stop=write
    until_stopped "$first"
    until_lock_is_gone
    worker second ttl=5000 rounds=2
    until_over "$second"
    go_on "$first"
    until_over "$first"
    [ "$mode" = weakened ] ||
        must "the first is told so" logged $'first\ttold.*refused\tRF_STALE'
    alive
}
