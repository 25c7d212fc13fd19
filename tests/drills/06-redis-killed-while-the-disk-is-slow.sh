# shellcheck shell=bash disable=SC2154,SC2034
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: Redis writes its log once a second, the disk is slow, and Redis is killed: it comes back without its last grant, whose number it issues again.
# Holds: the number is raised before anybody works under it; the old holder is refused.
# Seen: one holder for every number in the log of changes.
# Weakened: lower
# Overlap: yes
is_syncing() { redis info persistence | grep -q 'aof_pending_bio_fsync:1'; }
# The tracer would let the killed one go when its flush is over.
kill_redis_and_tracer() {
    local pid tracer
    pid=$(cat "$dir/redis.pid")
    tracer=$(awk '/^TracerPid/ { print $2 }' "/proc/$pid/status")
    happens "Redis is killed, and comes back"
    kill -KILL "$pid"
    [ "$tracer" = 0 ] || kill -KILL "$tracer"
    redis_stop "$dir"
    redis_under=()
}
granted_again() { [ "$(grep -c granted "$dir/log")" -gt "$granted" ]; }
with=(--appendonly yes --appendfsync everysec)
# A grant that is not in the log when Redis dies.  While a flush goes on, Redis
# keeps what it should write, but for two seconds at most.
forgets_a_grant() {
    redis_under=(strace -D -f -qq -o /dev/null -e trace=fdatasync
        -e inject=fdatasync:delay_enter=60s)
    redis_start "$dir" "${with[@]}"
    worker before ttl=500 wait=5000
    until_over "$before"
    await 20 "the disk is busy" is_syncing
    granted=$(grep -c granted "$dir/log")
    worker first ttl=20000 stop=write
    await 20 "it is granted" granted_again
    kill_redis_and_tracer
    until_stopped "$first"
    redis_start "$dir" "${with[@]}"
    [ "$(redis get "$lock_key:fence")" -lt "$(grep -c granted "$dir/log")" ]
}
drill() {
    local try
    redis_stop "$dir"
    # The files are there already: then strace meets nothing but their flushing.
    redis_start "$dir" "${with[@]}"
    redis_stop "$dir"
    for try in 1 2 3 4 5; do
        forgets_a_grant && break
        [ "$try" -lt 5 ] || fail "nothing was forgotten"
        kill -KILL "$first"
        redis_stop "$dir"
    done
    worker second ttl=20000 wait=8000
    until_over "$second"
    must "the next one works" logged $'second\ttold.*\tdone\t'
    go_on "$first"
    until_over "$first"
    alive
}
