# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: Redis evicts what has a time to live: the lock goes, the counter stays.
# Holds: two believe in the lock, and their writes don't mix.
# Seen: overlapping beliefs above zero, interleaved holders zero.
# Redis: --maxmemory 3mb --maxmemory-policy volatile-ttl --maxmemory-samples 10
# Overlap: yes
fill() {
    seq "$1" "$(($1 + 2000))" |
        awk '{ printf "SET filler:%d %0400d EX 3600\n", $1, $1 }' |
        redis --pipe
    lock_is_gone
}
drill() {
    local from=0
    worker first ttl=60000 stop=write
    until_stopped "$first"
    happens "Redis is filled until it evicts"
    until fill $((from += 2001)) || [ $from -gt 400000 ]; do :; done
    lock_is_gone || fail "nothing was evicted"
    must "the counter is still there" \
        test "$(redis get "$lock_key:fence")" = 1
    worker second ttl=20000
    until_over "$second"
    go_on "$first"
    until_over "$first"
    alive
}
