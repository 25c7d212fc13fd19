# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# timescaledb.sh - the test goes on where TimescaleDB is had (to be sourced after
# tap.sh and sessions.sh).  Elsewhere that it is not had is all there is to see.
if [ ! -f "$($PG_CONFIG --sharedir)/extension/timescaledb.control" ]; then
    plan 1
    is "this PostgreSQL has no TimescaleDB" \
        "$(ask "SELECT count(*) FROM pg_available_extensions WHERE name = 'timescaledb'")" 0
    exit
fi
