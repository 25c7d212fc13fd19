# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: somebody runs FLUSHALL while a holder is at work.
# Holds: the next one gets a number above the old one and works; the old one is refused.
# Seen: one holder for every number in the log of changes.
# Weakened: lower
# Overlap: yes
drill() {
    worker first ttl=20000 stop=write
    until_stopped "$first"
    redis flushall
    worker second ttl=20000
    until_over "$second"
    must "the next one works" logged $'second\ttold.*\tdone\t'
    go_on "$first"
    until_over "$first"
    alive
}
