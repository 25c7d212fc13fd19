# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: Redis runs out of memory while a holder is at work and wants to keep its lock.
# Holds: renewing needs no memory and works; a new lock is refused, with nothing half done.
# Seen: what each was told; no key is left behind.
# Weakened: recipe
drill() {
    worker first ttl=20000 renew=1 stop=write
    until_stopped "$first"
    redis config set maxmemory 1
    worker second item=b ttl=20000
    until_over "$second"
    must "a new lock is refused" \
        test "$(grep -c $'second\tgranted' "$dir/log")" = 0
    must "nothing is half done" test "$(redis exists '{lock:v1:b}')" = 0
    go_on "$first"
    until_over "$first"
    must "the lock is renewed" logged $'first\trenew\tRF_OK'
    redis config set maxmemory 0
    alive
}
