# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: Redis has granted the lock; the reply vanishes and the connection stays; so it goes with the second request.
# Holds: asked once more by the same holder, it hands out the same grant; one number for one holder.
# Seen: the counter in Redis equals the number of grants.
# Weakened: recipe
drill() {
    worker warm ttl=2000
    until_over "$warm"
    worker first ttl=8000 timeout=400 fault=mute:0:2 again=1
    until_over "$first"
    must "it is granted" logged $'first\tgranted'
    must "one number for each grant" \
        test "$(redis get "$lock_key:fence")" = "$(grep -c granted "$dir/log")"
    redis del "$lock_key"
    alive
}
