# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: two holders lose the connection after a write was sent; one write landed, the other did not.
# Holds: each asks under a new lock what became of it, does it again only if it did not land, and has done it once in the end.
# Seen: the operations in the log of changes; what the receipts told.
# Weakened: gloomy
once_each() {
    [ "$(sql "SELECT count(*) FROM work WHERE op LIKE '$1-%'")" = 1 ]
}
drill() {
    worker warm ttl=2000 # a counter that is missing costs one more question
    until_over "$warm"
    worker landed ttl=5000 sections=5 want=1 pgfault=cut-after:3
    until_over "$landed"
    redis del "$lock_key"
    worker missing ttl=5000 sections=5 want=1 pgfault=cut-before:3
    until_over "$missing"
    must "what had landed is there once" once_each landed
    must "what was missing is there once" once_each missing
    if [ "$mode" = guarded ]; then
        must "the first is told that it had landed" \
            logged $'landed\tresolved\t.*\tRF_OK\t1'
        must "the second is told that it had not" \
            logged $'missing\tresolved\t.*\tRF_OK\t0'
    fi
    redis del "$lock_key"
    alive
}
