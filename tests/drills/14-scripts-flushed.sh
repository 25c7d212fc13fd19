# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: somebody empties Redis' script cache again and again.
# Holds: every section succeeds; nobody is told "unknown".
# Seen: what each was told.
# Weakened: cached
drill() {
    worker first ttl=5000 sections=20 think=20
    until is_over "$first"; do
        redis script flush
        sleep 0.02
    done
    must "all sections succeed" \
        test "$(grep -c $'first\ttold.*\tdone\t' "$dir/log")" = 20
    redis del "$lock_key"
    weak=recipe alive
}
