# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: twelve processes want one lock that lives for 50 ms and think for longer than that, again and again.
# Holds: all invariants, however often two believe in the lock.
# Seen: the log of changes, and what each was told.
# Weakened: recipe
# Overlap: yes
drill() {
    local i pids=() sections=12
    [ "$mode" = guarded ] || sections=40 # it does not wait: busy is over at once
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        worker "w$i" ttl=50 wait=1000 sections=$sections rounds=2 think=60 renew=1 \
            seed=$((seed + i))
        pids+=("${workers[-1]}")
    done
    for i in "${pids[@]}"; do
        until_over "$i" 60
    done
    alive
}
