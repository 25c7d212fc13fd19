# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the disk of PostgreSQL is full: it can't write its log, ends itself, and does not come back before there is space; a holder was in the middle of its section, and sends its write again when it can connect.
# Holds: while it is full nothing is accepted; afterwards all that was acknowledged is there, the claims among it, and the old holder is refused.
# Seen: commit order in the log of changes; what each was told.
# shellcheck source=tests/drills/disk.sh
. "$RF_ROOT/tests/drills/disk.sh"
server_disk_full() {
    local pid server
    happens "the disk of PostgreSQL is full"
    server=$(cat "$dir/p/postgres.pid")
    for pid in "$server" $(pg_children "$server"); do
        disk_full "$pid" 8192 "${PG_AS[@]}"
    done
}
server_is_over() { is_over "$(cat "$dir/p/postgres.pid")"; }
drill() {
    server_copy p
    worker before ttl=20000
    until_over "$before"
    worker first ttl=60000 style=transaction stop=inside stubborn=1
    until_stopped "$first"
    server_disk_full
    worker refused item=b ttl=20000
    until_over "$refused"
    must "nothing is granted" \
        test "$(grep -c $'refused\tgranted' "$dir/log")" = 0
    must "and that is told" logged $'refused\tacquire\tRF_RETRY'
    await 30 "PostgreSQL ends" server_is_over
    must "it is the disk" grep -q 'PANIC.*File too large' "$dir/p/postgres.log"
    server_run p
    redis del "$lock_key"
    worker second ttl=20000
    until_over "$second"
    must "the next one works" logged $'second\ttold.*\tdone\t'
    go_on "$first"
    until_over "$first"
    [ "$mode" = weakened ] ||
        must "the old one is told so" logged $'first\ttold.*\tRF_STALE'
    alive
}
