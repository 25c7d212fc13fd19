# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: a process forks after it has connected; parent and child both go on with what they have, each on an item of its own.
# Holds: the child makes a connection of its own; no answer of the one reaches the other.
# Seen: the numbers in the log of changes: those of b begin where those of a never come.
# Weakened: recipe
strays() {
    sql "SELECT count(*) FROM work
         WHERE (resource = 'a') = (fence > 1000000) OR fence < 1"
}
drill() {
    redis set '{lock:v1:b}:fence' 1000000
    worker one ttl=20000 sections=40 timeout=300 fork=b
    # Both have asked before either is answered.
    until is_over "$one"; do
        redis client pause 20
    done
    must "no number is the other's" test "$(strays)" = 0
    must "all sections succeed" \
        test "$(grep -c $'\tone2*\ttold.*\tdone\t' "$dir/log")" = 79
    redis del "$lock_key" '{lock:v1:b}'
    alive
}
