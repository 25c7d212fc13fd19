# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: on a confused connection the reply of the request before comes again, as if it were the answer.
# Holds: it is never taken for one: no work under a number that was not issued to this holder.
# Seen: one holder for every number in the log of changes.
# Weakened: recipe
drill() {
    worker warm ttl=2000
    until_over "$warm"
    worker first ttl=5000 timeout=300 sections=6 fault=stale:1:6 again=1
    until_over "$first"
    redis del "$lock_key"
    alive
}
