# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: a holder stops between the lock and its claim; two others come, work and go; then it goes on.
# Holds: the late claim is refused, and no section begins under it.
# Seen: no row of that holder in the log of changes.
# Weakened: recipe
drill() {
    worker warm ttl=2000 # without a counter the floor would be asked for first
    until_over "$warm"
    worker first ttl=300 stop=claim
    until_stopped "$first"
    until_lock_is_gone
    worker second ttl=5000
    until_over "$second"
    worker third ttl=5000
    until_over "$third"
    go_on "$first"
    until_over "$first"
    [ "$mode" = weakened ] ||
        must "it is told so" logged $'first\tacquire\tRF_(STALE|LOST)'
    alive
}
