# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: Redis is a cache as well, runs full, and evicts the counter and the lock.
# Holds: the number that is issued twice is raised before anybody works under it.
# Seen: one holder for every number in the log of changes.
# Redis: --maxmemory 3mb --maxmemory-policy allkeys-lru --maxmemory-samples 10
# Weakened: lower
# Overlap: yes
both_are_gone() {
    [ "$(redis exists "$lock_key" "$lock_key:fence")" = 0 ]
}
fill() {
    seq "$1" "$(($1 + 2000))" |
        awk '{ printf "SET filler:%d %0400d\n", $1, $1 }' |
        redis --pipe
    both_are_gone
}
drill() {
    local from=0
    worker first ttl=60000 stop=write
    until_stopped "$first"
    happens "Redis is filled until it evicts"
    until fill $((from += 2001)) || [ $from -gt 400000 ]; do :; done
    both_are_gone || fail "nothing was evicted"
    worker second ttl=20000
    until_over "$second"
    must "the next one works" logged $'second\ttold.*\tdone\t'
    go_on "$first"
    until_over "$first"
    alive
}
