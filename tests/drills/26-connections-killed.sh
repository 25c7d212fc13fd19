# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the server closes its clients' connections while they think.
# Holds: no process dies of it, and the sections succeed over new connections.
# Seen: the end of the worker, and what it was told.
# Weakened: recipe
drill() {
    worker first ttl=5000 sections=20 think=60
    until is_over "$first"; do
        redis client kill type normal
        sleep 0.02
    done
    must "the process lives to its end" logged $'first\tends'
    must "most sections succeed" \
        test "$(grep -c $'first\ttold.*\tdone\t' "$dir/log")" -ge 10
    redis del "$lock_key"
    alive
}
