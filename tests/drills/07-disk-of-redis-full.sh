# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the disk of Redis is full: it grants once more, can't write that down, and refuses from then on; restarted with space, it issues the number again.
# Holds: who is refused is told that nothing landed; the repeated number is raised before anybody works under it.
# Seen: one holder for every number in the log of changes; what each was told.
# Weakened: lower
# Overlap: yes
# shellcheck source=tests/drills/disk.sh
. "$RF_ROOT/tests/drills/disk.sh"
drill() {
    redis_stop "$dir"
    redis_with_log everysec
    worker before ttl=2000
    until_over "$before"
    happens "the disk of Redis is full"
    redis_disk_full
    worker first ttl=20000 stop=write
    until_stopped "$first"
    worker refused item=b ttl=2000
    until_over "$refused"
    must "a full disk is told as: nothing landed" \
        logged $'refused\tacquire\tRF_RETRY\t.*MISCONF'
    happens "Redis starts again, with space"
    redis_stop "$dir"
    redis_with_log everysec
    [ "$(redis get "$lock_key:fence")" = 1 ] || fail "nothing was forgotten"
    worker second ttl=20000
    until_over "$second"
    must "the next one works" logged $'second\ttold.*\tdone\t'
    go_on "$first"
    until_over "$first"
    alive
}
