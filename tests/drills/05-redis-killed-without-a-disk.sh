# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: Redis dies and comes back empty while a holder is at work; its next grant bears the same number.
# Holds: the number is raised before anybody works under it; the old holder is refused.
# Seen: one holder for every number in the log of changes.
# Weakened: lower
# Overlap: yes
drill() {
    worker first ttl=20000 stop=write
    until_stopped "$first"
    happens "Redis is killed and comes back empty"
    redis_stop "$dir"
    redis_start "$dir"
    worker second ttl=20000
    until_over "$second"
    must "the next one works" logged $'second\ttold.*\tdone\t'
    go_on "$first"
    until_over "$first"
    alive
}
