# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: Redis' wall clock jumps a minute ahead, then an hour back: its locks run out by it.
# Holds: two believe in the lock, and their writes don't mix.
# Seen: overlapping beliefs above zero, interleaved holders zero.
# Overlap: yes
set_clock() {
    perl -e 'print pack("qq", shift, 0)' "$1" |
        dd of="$dir/clock" conv=notrunc status=none
}
drill() {
    redis_stop "$dir"
    set_clock 0
    LD_PRELOAD="$RF_BUILD/drills/clock.so" CLOCK_FILE="$dir/clock" \
        redis_start "$dir"
    worker first ttl=30000 stop=write
    until_stopped "$first"
    happens "Redis' clock jumps a minute ahead"
    set_clock 60000
    worker second ttl=20000
    until_over "$second"
    must "the next one works at once" logged $'second\ttold.*\tdone\t'
    happens "Redis' clock jumps an hour back"
    set_clock -3600000
    worker third ttl=20000
    until_over "$third"
    go_on "$first"
    until_over "$first"
    happens "Redis' clock is right again"
    set_clock 0
    alive
}
