# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: a holder stops before it looks at its clock; meanwhile the lock runs out, another one works, and the holder's wall clock is set back an hour. Then a machine sleeps with a lock in hand.
# Holds: the wall clock decides nothing, and sleep counts: both find out by themselves, and send nothing.
# Seen: what they were told, without asking anybody; commit order in the log of changes.
# Weakened: wall
set_clocks() {
    perl -e 'print pack("qq", @ARGV)' -- "$@" |
        dd of="$dir/clock" conv=notrunc status=none
}
with_clock() {
    LD_PRELOAD="$RF_BUILD/drills/clock.so" CLOCK_FILE="$dir/clock" worker "$@"
}
drill() {
    set_clocks 0 0
    with_clock first ttl=400 stop=think
    until_stopped "$first"
    until_lock_is_gone
    worker second ttl=5000
    until_over "$second"
    happens "the holder's wall clock is set back an hour"
    set_clocks -3600000 0
    go_on "$first"
    until_over "$first"
    set_clocks 0 0
    with_clock sleeper ttl=60000 stop=think
    until_stopped "$sleeper"
    happens "the holder's machine sleeps for two minutes"
    set_clocks 120000 120000 # while it slept; Redis did not
    go_on "$sleeper"
    until_over "$sleeper"
    if [ "$mode" = guarded ]; then
        must "it is lost" logged $'first\ttold.*\tRF_LOST'
        must "sleep counts" logged $'sleeper\ttold.*\tRF_LOST'
    fi
    redis del "$lock_key"
    alive
}
