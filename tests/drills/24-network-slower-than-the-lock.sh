# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the network is so slow that the reply comes when the lock it tells of has run out.
# Holds: nobody is granted a lock that is over.
# Seen: what the slow one was told, while another works.
# Weakened: recipe
drill() {
    worker warm ttl=2000
    until_over "$warm"
    worker first ttl=500 timeout=4000 fault=delay:0:1
    sleep 0.7 # the length of the story: the lock has 500 ms, the reply takes 1000
    worker second ttl=5000 wait=3000
    until_over "$second"
    until_over "$first"
    must "the slow one is granted nothing" \
        test "$(grep -c $'first\tgranted' "$dir/log")" = 0
    redis del "$lock_key"
    alive
}
