# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: a holder stops with a transaction open, just before its COMMIT is sent, and keeps everybody waiting.
# Holds: the database ends it with its lease; the next one works before it goes on; nothing of it is committed.
# Seen: the next one's commit while the first is still stopped.
drill() {
    worker first ttl=800 style=transaction stop=commit
    until_stopped "$first"
    worker second ttl=5000 wait=8000
    if [ "$mode" = guarded ]; then
        until_over "$second"
        must "the next one works" logged $'second\ttold.*\tdone\t'
    else
        await 20 "the next one reads" logged $'second\tbelieves'
    fi
    go_on "$first"
    until_over "$first"
    until_over "$second"
    alive
}
