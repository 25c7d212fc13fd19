# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: Redis has granted the lock; the reply is lost, and so is the reply to the second request.
# Holds: asked once more by the same holder, it hands out the same grant; one number for one holder.
# Seen: the counter in Redis equals the number of grants.
# Weakened: recipe
drill() {
    worker warm ttl=2000
    until_over "$warm"
    worker first ttl=5000 timeout=500 fault=cut-after:0:2 again=1
    until_over "$first"
    must "it is granted" logged $'first\tgranted'
    must "one number for each grant" \
        test "$(redis get "$lock_key:fence")" = "$(grep -c granted "$dir/log")"
    redis del "$lock_key"
    alive
}
