# shellcheck shell=bash disable=SC2154,SC2034
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# disk.sh - a disk that fills up (to be sourced)
#
# No file of the process may grow beyond a limit, which can be set while it runs,
# by anybody: write(2) then writes what fits, and the next time fails, as on a
# disk that is full.  What comes after PID and SIZE runs the command that sets it, as
# whoever owns the process.  PostgreSQL ignores the signal that comes with it; Redis has
# to be started so.

disk_full() {
    local pid=$1 size=$2
    shift 2
    "$@" prlimit --pid "$pid" --fsize="$size": || is_over "$pid" ||
        fail "no limit to be had"
}

# A Redis that keeps a log: redis_with_log WHEN
redis_with_log() {
    redis_under=(env --ignore-signal=XFSZ)
    redis_start "$dir" --appendonly yes --appendfsync "$1"
    redis_under=()
}

# Not a byte more goes into its log.
redis_disk_full() {
    disk_full "$(cat "$dir/redis.pid")" \
        "$(stat -c %s "$dir"/appendonlydir/*.incr.aof)"
}
