#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# case 46, case 48, case 49, case 50
# A server crashes, a standby reads along and is promoted. An acknowledged
# claim survives what its commit survives, and no more.
set -u
. "$RF_ROOT/tests/lib/tap.sh"
. "$RF_ROOT/tests/lib/postgres.sh"

dir=$(mktemp -d /tmp/rf.XXXXXX)
standby=$dir/standby
finish() {
    pg_stop "$standby"
    pg_stop "$dir"
    rm -rf "$dir"
}
trap finish EXIT

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 -d postgres -c "$1"; }

# state COMMAND: the SQLSTATE that the command ends in, 00000 if it passes.
state() {
    psql -X -q -A -t -d postgres 2>/dev/null <<SQL | tail -n 1
\\o /dev/null
$1;
\\o
\\echo :SQLSTATE
SQL
}

# until_is SQL WANT, at most 30 seconds.
until_is() {
    local i said
    for ((i = 0; i < 300; i++)); do
        said=$(sql "$1")
        [ "$said" = "$2" ] && return 0
        sleep 0.1
    done
    echo "have: $said"
    echo "want: $2"
    return 1
}

pg_start "$dir" "wal_writer_delay = 10s" || exit 1
sql "CREATE EXTENSION ringfence"
sql "CREATE TABLE stock (sku text PRIMARY KEY, fence bigint);
    INSERT INTO stock VALUES ('a', 5);
    CREATE TABLE line (sku text);
    DO \$\$BEGIN
        PERFORM ringfence.protect('stock', 'fence', 'stock:{sku}');
        PERFORM ringfence.protect('line', resource => 'stock:{sku}');
    END\$\$"

plan 16

# ---- A crash right after a claim ----
sql "SET synchronous_commit = off; SELECT ringfence.guard('stock:a', 6, 'h')" \
    >/dev/null
pg_stop "$dir"
pg_run "$dir"
is "a claim is on disk before it is acknowledged, whatever the session set" \
    "$(sql "SELECT ringfence.high_water('stock:a')")" 6
is "what came before is refused after the crash" \
    "$(state "SELECT ringfence.guard('stock:a', 5, 'old')")" RF001

# ---- A prepared transaction, and a crash ----
is "after PREPARE the session has no claim left" "$(state "
    BEGIN;
    SELECT ringfence.guard('stock:a', 7, 'h');
    UPDATE stock SET fence = 7;
    PREPARE TRANSACTION 'p';
    INSERT INTO line VALUES ('a')")" RF003
pg_stop "$dir"
pg_run "$dir"
is "the prepared transaction keeps others out across the crash" "$(state "
    SET lock_timeout = '200ms';
    SELECT ringfence.guard('stock:a', 8, 'next')")" 55P03
sql "COMMIT PREPARED 'p'"
is "its claim and its write are there once it commits" \
    "$(sql "SELECT fence, ringfence.high_water('stock:a') FROM stock")" "7|7"
is "an older grant is refused" \
    "$(state "SELECT ringfence.guard('stock:a', 6, 'h')")" RF001
is "a newer one passes" \
    "$(state "SELECT ringfence.guard('stock:a', 8, 'next')")" 00000

# ---- A standby ----
pg_standby "$dir" "$standby" || exit 1
ok "the standby has the claim" \
    until_is "SELECT fence FROM ringfence.registry" 8
is "no guard says yes on a standby, which may be behind" \
    "$(state "SELECT ringfence.guard('stock:a', 8, 'next')")" RF005
is "audit() can be asked there" \
    "$(sql "SELECT count(*) FROM ringfence.audit()")" 0

# ---- The primary goes on alone, and is lost ----
pg_stop "$standby"
PGHOST=$dir/socket
sql "SELECT ringfence.guard('stock:a', 9, 'lost')" >/dev/null
pg_stop "$dir"
pg_run "$standby"
sql "SELECT pg_promote()" >/dev/null
is "the promoted standby shows the last fence that reached it" \
    "$(sql "SELECT ringfence.high_water('stock:a')")" 8
is "what was older there is refused" \
    "$(state "SELECT ringfence.guard('stock:a', 7, 'h')")" RF001
is "a claim that only the lost primary knew is accepted again: replication was asynchronous" \
    "$(state "SELECT ringfence.guard('stock:a', 8, 'next')")" 00000
is "so is that of a holder in mid-section, who can't be told from one that claims now" \
    "$(state "
    BEGIN;
    SELECT ringfence.guard('stock:a', 9, 'lost');
    UPDATE stock SET fence = 9;
    ROLLBACK")" 00000
is "once a greater fence is claimed the order is as it was" \
    "$(state "SELECT ringfence.guard('stock:a', 10, 'again')")" 00000
is "and 9 is refused" \
    "$(state "SELECT ringfence.guard('stock:a', 9, 'lost')")" RF001
