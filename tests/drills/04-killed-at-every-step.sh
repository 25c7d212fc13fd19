# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: a holder is killed at each step in turn: before its claim, its read, its write, its COMMIT, before the answer comes, before it gives the lock back.
# Holds: whatever it was doing is done once or not at all, and the lock frees itself: the next one works.
# Seen: each operation in the log of changes; the next one's success.
# Weakened: steps
one_at() {
    local style=statement
    case $1 in inside | commit) style=transaction ;; esac
    redis del "$lock_key"
    worker "at_$1" ttl=200 style=$style stop="$1"
    until_stopped "${workers[-1]}"
    happens "at_$1 is killed"
    kill -KILL "${workers[-1]}"
}
# Redis, or the database, has done it; the answer is on its way.
is_granted() { [ "$(redis exists "$lock_key")" = 1 ]; }
is_written() {
    [ "$(sql "SELECT count(*) FROM work WHERE op LIKE 'unanswered-%'")" = 1 ]
}
unanswered() {
    redis del "$lock_key"
    worker unheard ttl=5000 timeout=20000 fault=mute:0:1
    await 20 "it is granted" is_granted
    happens "unheard is killed"
    kill -KILL "$unheard"
    redis del "$lock_key"
    worker unanswered ttl=200 pgfault=mute:3
    await 20 "it is written" is_written
    happens "unanswered is killed"
    kill -KILL "$unanswered"
}
drill() {
    local point points=(claim read write inside commit release)
    worker warm ttl=2000 # a counter that is missing costs one more question
    until_over "$warm"
    [ "$mode" = guarded ] || points=(release expire)
    for point in "${points[@]}"; do
        one_at "$point"
    done
    [ "$mode" = weakened ] || unanswered
    alive
}
