# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the backend of a holder is killed in the middle of a transaction, and the server restarts; another one works; the holder connects and sends its write again.
# Holds: the transaction is gone as a whole; what is sent again is refused, since a newer grant has been claimed.
# Seen: commit order in the log of changes; what the holder was told.
backend() {
    sql "SELECT pid FROM pg_stat_activity WHERE datname = current_database()
         AND state = 'idle in transaction'"
}
drill() {
    worker first ttl=60000 style=transaction stop=inside stubborn=1
    until_stopped "$first"
    happens "the backend of first is killed; PostgreSQL restarts"
    kill -KILL "$(backend)"
    await 60 "the server recovers" sql 'SELECT 1'
    redis del "$lock_key"
    worker second ttl=5000
    until_over "$second"
    must "the next one works" logged $'second\ttold.*\tdone\t'
    go_on "$first"
    until_over "$first"
    [ "$mode" = weakened ] ||
        must "it is told so" logged $'first\ttold.*\tRF_STALE'
    alive
}
