# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the master dies; the replica that takes over has not heard of the last grants.
# Holds: numbers that are issued again are raised before anybody works under them.
# Seen: one holder for every number in the log of changes.
# Weakened: lower
# Overlap: yes
# shellcheck source=tests/drills/replica.sh
. "$RF_ROOT/tests/drills/replica.sh"
drill() {
    replica_start
    worker before ttl=20000 sections=2
    until_over "$before"
    until_replica_has 2
    replica_cut
    worker first ttl=20000 stop=write
    until_stopped "$first"
    happens "the master is killed"
    redis_stop "$dir"
    replica_promote
    worker second ttl=20000 redis="$dir/r/redis.sock"
    until_over "$second"
    must "the next one works" logged $'second\ttold.*\tdone\t'
    go_on "$first"
    until_over "$first"
    alive redis="$dir/r/redis.sock"
    redis_stop "$dir/r"
}
