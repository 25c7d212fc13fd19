# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: a signal interrupts the holder a hundred times a second, and Redis does not answer.
# Holds: every call ends within its limit all the same; with Redis back, sections succeed between the signals.
# Seen: what was told while Redis was still silent; the operations afterwards.
# Weakened: recipe
silent_redis() {
    happens "Redis: SIG$1"
    kill -"$1" "$(cat "$dir/redis.pid")"
}
drill() {
    worker warm ttl=2000
    until_over "$warm"
    worker first ttl=20000 signals=10 sections=8 stop=write
    until_stopped "$first"
    silent_redis STOP
    worker waits item=b ttl=20000 timeout=300 signals=10
    must "it is told in time" in_time 4 logged $'waits\tacquire'
    silent_redis CONT
    go_on "$first"
    until_over "$first"
    until_over "$waits"
    must "sections succeed between the signals" \
        test "$(grep -c $'first\ttold.*\tdone\t' "$dir/log")" = 8
    redis del "$lock_key"
    alive
}
