# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: grants that are none come to the guard: no number, 0, negative, beyond the ceiling, names too long or with control characters.
# Holds: each is refused with its own code, and leaves no trace in the registry.
# Seen: the code of every refusal; the registry afterwards.
refused() {
    psql -X -q -A -t -v VERBOSITY=sqlstate -c "SELECT ringfence.guard($1)" 2>&1 |
        grep -q RF004
}
drill() {
    local grant
    while read -r grant; do
        must "guard($grant) is refused" refused "$grant"
    done <<'GRANTS'
'a', NULL, 'h'
'a', 0, 'h'
'a', -1, 'h'
'a', 9007199254740992, 'h'
'a', 9223372036854775807, 'h'
NULL, 5, 'h'
'', 5, 'h'
repeat('x', 256), 5, 'h'
E'a\x01b', 5, 'h'
'a', 5, repeat('h', 129)
'a', 5, 'h', interval '0'
'a', 5, 'h', interval '-1 second'
'a', 5, 'h', NULL, NULL
GRANTS
    must "no trace is left" \
        test "$(sql 'SELECT count(*) FROM ringfence.registry')" = 0
    alive
}
