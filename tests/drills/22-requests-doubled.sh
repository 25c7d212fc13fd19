# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: something on the way sends every request twice.
# Holds: one number for one holder; every answer is matched with its request.
# Seen: the counter in Redis equals the number of grants; invariants of the log of changes.
# Weakened: recipe
drill() {
    worker first ttl=5000 timeout=500 sections=6 fault=duplicate:0:1000 again=1
    until_over "$first"
    must "all sections succeed" \
        test "$(grep -c $'first\ttold.*\tdone\t' "$dir/log")" = 6
    must "one number for each grant" \
        test "$(redis get "$lock_key:fence")" = "$(grep -c granted "$dir/log")"
    redis del "$lock_key"
    alive
}
