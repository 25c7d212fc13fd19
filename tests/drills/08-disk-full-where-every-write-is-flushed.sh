# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: Redis flushes every write before it answers; its disk is full, and rather than answer it ends.
# Holds: who asked is told "unknown"; with space again Redis remembers all that it ever acknowledged, and no number is issued twice.
# Seen: the counter in Redis after the restart; one holder for every number in the log of changes.
# Weakened: lower
# shellcheck source=tests/drills/disk.sh
. "$RF_ROOT/tests/drills/disk.sh"
redis_is_over() { is_over "$(cat "$dir/redis.pid")"; }
drill() {
    local when=always last
    [ "$mode" = guarded ] || when=everysec # the default, which flushes later
    redis_stop "$dir"
    redis_with_log $when
    worker before ttl=2000
    until_over "$before"
    happens "the disk of Redis is full"
    redis_disk_full
    worker first ttl=20000 stop=write
    if [ "$mode" = guarded ]; then
        until_over "$first"
        must "Redis ends" in_time 10 redis_is_over
        must "the outcome is not known" logged $'first\tacquire\tRF_UNKNOWN'
    else
        until_stopped "$first"
    fi
    last=$(grep -c granted "$dir/log")
    happens "Redis starts again, with space"
    redis_stop "$dir"
    redis_with_log $when
    must "what was acknowledged is remembered" \
        test "$(redis get "$lock_key:fence")" -ge "$last"
    worker second ttl=20000
    until_over "$second"
    must "the next one works" logged $'second\ttold.*\tdone\t'
    [ "$mode" = guarded ] || go_on "$first"
    until_over "$first"
    alive
}
