#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# A resource has valid characters, whatever the database lets in.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

plan 9

made=()
finish_all() { for name in "${made[@]}"; do ask "DROP DATABASE $name" >/dev/null; done; }
trap finish_all EXIT
# in_database ENCODING SQL: in one of that encoding.
in_database() {
    local name=${PGDATABASE}_$1
    if [ -z "$(ask "SELECT 1 FROM pg_database WHERE datname = '${name,,}'")" ]; then
        ask "CREATE DATABASE $name ENCODING $1 LOCALE 'C' TEMPLATE template0" >/dev/null
        PGDATABASE=${name,,} ask "CREATE EXTENSION ringfence" >/dev/null
    fi
    PGDATABASE=${name,,} ask "$2"
}
made=("${PGDATABASE}_sql_ascii" "${PGDATABASE}_latin1")

is "UTF-8: the server refuses what is not" \
    "$(ask "SELECT ringfence.guard(E'\\xff', 1)")" "ERROR:  22021"
is "no encoding: 0xff is no UTF-8" \
    "$(in_database sql_ascii "SELECT ringfence.guard(E'\\xff', 1)")" "ERROR:  RF004"
is "nor is half a character" \
    "$(in_database sql_ascii "SELECT ringfence.guard(E'a\\xc3', 1)")" "ERROR:  RF004"
is "nor an over-long one" \
    "$(in_database sql_ascii "SELECT ringfence.guard(E'\\xc0\\x80', 1)")" "ERROR:  RF004"
is "a whole one is" \
    "$(in_database sql_ascii "SELECT ringfence.guard(E'a\\xc3\\xa9', 1)")" t
is "a control character is not" \
    "$(in_database sql_ascii "SELECT ringfence.guard(E'a\\xc2\\x85', 1)")" "ERROR:  RF004"
is "nothing else was stored" \
    "$(in_database sql_ascii "SELECT count(*) FROM ringfence.registry")" 1
is "LATIN1: its own characters" \
    "$(PGCLIENTENCODING=UTF8 in_database latin1 "SELECT ringfence.guard('é', 1)")" t
is "and the same limits" \
    "$(PGCLIENTENCODING=UTF8 in_database latin1 "SELECT ringfence.guard(repeat('é', 256), 1)")" "ERROR:  RF004"
