# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the counter is set to a lower number, a negative one, text, a list, one that will expire, and the last numbers there are.
# Holds: a lower number is raised above the database's, and one that was to go stays; anything else is refused, and no number is made of it.
# Seen: what each acquisition was told; one holder for every number.
# Weakened: lower
tampered() {
    local before
    before=$(grep -c granted "$dir/log")
    worker odd ttl=2000
    until_over "$odd"
    must "counter $1 is refused" \
        test "$(grep -c granted "$dir/log")" = "$before"
    must "counter $1 is told" logged $'odd\tacquire\tRF_MISUSE'
    redis del "$lock_key" "$lock_key:fence"
}
drill() {
    worker first ttl=2000 sections=3
    until_over "$first"
    redis set "$lock_key:fence" 2
    worker lower ttl=2000
    until_over "$lower"
    must "a lower number is mended" logged $'lower\ttold.*\tdone\t'
    for value in -5 text 007 9007199254740991 9223372036854775807; do
        redis set "$lock_key:fence" "$value"
        tampered "$value"
    done
    redis rpush "$lock_key:fence" 5
    tampered list
    redis del "$lock_key:fence"
    redis set "$lock_key:fence" 2 px 60000
    # Who can ask the database for a floor makes the counter one that stays.
    worker expiring ttl=2000
    until_over "$expiring"
    must "a number that was to go is mended" logged $'expiring\ttold.*\tdone\t'
    must "and stays" test "$(redis pttl "$lock_key:fence")" = -1
    alive
}
