# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: a partition; both sides have a master, both give the lock away, with the same number.
# Holds: one of the two works, whichever claims first with the greater number; never both.
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
    replica_promote
    worker left ttl=20000 rounds=2 stop=write
    until_stopped "$left"
    worker right ttl=20000 rounds=2 redis="$dir/r/redis.sock"
    until_over "$right"
    go_on "$left"
    until_over "$left"
    alive
    redis_stop "$dir/r"
}
