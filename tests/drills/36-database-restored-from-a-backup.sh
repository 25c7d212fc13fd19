# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the database is restored from a backup, with fences far below those that Redis has issued since; a holder from before is in the middle of its section, connects, and sends its write again.
# Holds: the next claim is greater and accepted, and the holder from before is refused. What came after the backup is lost.
# Seen: commit order in the log of changes, as far as the backup goes and then of the restored server.
# Breaks: I1
# Loses: I4
drill() {
    local had
    server_copy p
    worker before ttl=20000
    until_over "$before"
    had=$(backup_taken b)
    worker since ttl=20000 sections=3
    until_over "$since"
    failing_over p b worker first ttl=60000 style=transaction stop=inside \
        stubborn=1
    until_stopped "$first"
    history_keep
    server_kill p
    server_run b
    history_goes_on "$had"
    redis del "$lock_key" # it had its lock for long; somebody gives up on it
    worker second ttl=20000
    until_over "$second"
    must "the next one works at once" logged $'second\ttold.*\tdone\t'
    go_on "$first"
    until_over "$first"
    [ "$mode" = weakened ] ||
        must "the old one is told so" logged $'first\ttold.*\tRF_STALE'
    alive
}
