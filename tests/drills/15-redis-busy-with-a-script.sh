# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: somebody's script keeps Redis busy for seconds, while a holder asks for the lock and a time limit of its own runs out.
# Holds: who asks is told in time that the outcome is not known; asked again by the same holder, it is one grant, and it is given back.
# Seen: what was told while the script still ran; the lock and the counter afterwards.
# Weakened: recipe
busy() { redis eval 'while true do end' 0; }
is_busy() { redis ping 2>&1 | grep -q BUSY; }
told_of() { [ "$(grep -cP "\t$1\tacquire\t" "$dir/log")" -ge "$2" ]; }
drill() {
    worker warm ttl=2000
    until_over "$warm"
    redis config set lua-time-limit 100
    busy &
    await 20 "the script runs" is_busy
    worker refused ttl=20000 timeout=400
    until_over "$refused"
    if [ "$mode" = guarded ]; then
        must "a busy Redis is told as: nothing landed" \
            logged $'refused\tacquire\tRF_RETRY\t.*BUSY'
    fi
    must "the script still runs" is_busy
    redis script kill
    wait $!
    silence_for_a_while
    alive
}
# The same without an answer: what was asked meanwhile is carried out later.
silence_for_a_while() {
    local redis_pid
    redis_pid=$(cat "$dir/redis.pid")
    happens "Redis is silent"
    kill -STOP "$redis_pid"
    worker first ttl=20000 timeout=300 again=1
    if [ "$mode" = guarded ]; then
        await 20 "it is told" told_of first 2
    else
        await 20 "it has given up" is_over "$first"
    fi
    happens "Redis answers again"
    kill -CONT "$redis_pid"
    until_over "$first"
    must "one number for each grant" \
        test "$(redis get "$lock_key:fence")" = "$(grep -c granted "$dir/log")"
    must "the lock is given back" lock_is_gone
}
