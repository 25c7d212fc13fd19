# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the master dies; the sentinels promote a replica that has not heard of the last grants, and everybody finds it by asking them.
# Holds: the next one is served by the new master as soon as there is one; numbers that it issues again are raised before anybody works under them.
# Seen: one holder for every number in the log of changes.
# Weakened: lower
# Overlap: yes
# shellcheck source=tests/drills/replica.sh
. "$RF_ROOT/tests/drills/replica.sh"
# shellcheck source=tests/drills/sentinel.sh
. "$RF_ROOT/tests/drills/sentinel.sh"
drill() {
    replica_start
    sentinels_start
    worker before url="$url" ttl=20000 sections=2
    until_over "$before"
    until_replica_has 2
    replica_cut
    worker first url="$url" ttl=20000 stop=write
    until_stopped "$first"
    happens "the master is killed"
    redis_stop "$dir"
    worker second url="$url" ttl=20000 timeout=45000
    until_over "$second" 60
    must "the next one works" logged $'second\ttold.*\tdone\t'
    must "by the replica that was promoted" \
        grep -q role:master <<<"$(replica info replication)"
    go_on "$first"
    until_over "$first"
    alive url="$url"
    sentinels_stop
    redis_stop "$dir/r"
}
