# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the connection to PostgreSQL breaks after a write was sent and before its answer came.
# Holds: the holder is told "unknown", never "refused"; the write is there once.
# Seen: the operation in the log of changes, against what the holder was told.
# Weakened: gloomy
drill() {
    worker warm ttl=2000 # a counter that is missing costs one more question
    until_over "$warm"
    worker first ttl=5000 pgfault=cut-after:3
    until_over "$first"
    must "it has landed" \
        test "$(sql "SELECT count(*) FROM work WHERE op LIKE 'first-%'")" = 1
    [ "$mode" = weakened ] ||
        must "the holder is told so" logged $'first\ttold.*\tunknown\t'
    redis del "$lock_key"
    alive
}
