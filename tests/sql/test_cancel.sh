#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Whoever waits in a function of ours can be cancelled, at once, and leaves
# nothing behind; so can who has a statement_timeout.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

plan 25

ask "CREATE TABLE stock (sku text, fence bigint);
    SELECT ringfence.guard(r, 5, 'a')
        FROM unnest(ARRAY['held', 'ahead', 'by hand', 'old 1', 'old 2']) AS r;
    UPDATE ringfence.registry SET claimed_at = now() - interval '2 hours'
        WHERE resource LIKE 'old%'" >/dev/null
session other
tell other "BEGIN" "SELECT ringfence.guard('held', 5, 'a'), ringfence.once('held', 'op')" \
    "SELECT ringfence.guard('ahead', 9, 'z')" \
    "UPDATE ringfence.registry SET claimed_at = now() WHERE resource = 'by hand'" \
    "SELECT ringfence.retire('1 hour', 1)" \
    "LOCK TABLE stock"
settle other

is_waiting="SELECT 1 FROM pg_stat_activity WHERE application_name = 'waiter'
    AND datname = current_database() AND wait_event_type = 'Lock'"

# cancelled WHAT SQL: two ways to end its wait, and what is left of it.
cancelled() {
    session waiter
    tell waiter "BEGIN" "SAVEPOINT s" "$2"
    wait_until "$is_waiting"
    ask "SELECT pg_cancel_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'waiter' AND datname = current_database()" >/dev/null
    tell waiter "ROLLBACK TO s" "SET LOCAL statement_timeout = '300 ms'" "$2" \
        "ROLLBACK TO s" "SELECT 'locks: ' || count(*) FROM pg_locks
            WHERE pid = pg_backend_pid() AND locktype = 'advisory'" "COMMIT"
    finish waiter
    is "$1: cancelled" "$(grep -c 57014 "$TMPDIR/waiter.err")" 2
    is "$1: no other error" "$(grep -vc 57014 "$TMPDIR/waiter.err")" 0
    is "$1: no lock is left" "$(last_of waiter)" "locks: 0"
    rm "$TMPDIR"/waiter.*
}

cancelled "a claim" "SELECT ringfence.guard('held', 6, 'b')"
cancelled "a claim that preempts" \
    "SELECT ringfence.guard('ahead', 8, 'b', preempt => true)"
cancelled "a claim on a row that somebody writes by hand" \
    "SELECT ringfence.guard('by hand', 6, 'b')"
cancelled "an operation" \
    "SELECT ringfence.guard('held', 5, 'a'), ringfence.once('held', 'op')"
cancelled "a reset" "SELECT ringfence.reset('held', 1)"
cancelled "a retirement" "SELECT ringfence.retire('1 hour')"
cancelled "a protection" "SELECT ringfence.protect('stock', 'fence')"

tell other "COMMIT" "SELECT 'still here'"
finish other
is "who was in the way noticed nothing" "$(last_of other)" "still here"
is "and what was cancelled was not done" \
    "$(ask "SELECT string_agg(resource || ' ' || fence, ', ' ORDER BY resource)
        FROM ringfence.registry WHERE resource NOT LIKE 'old%'")" \
    "ahead 9, by hand 5, held 5"
is "in no part" "$(ask "SELECT count(*) FROM ringfence.registry WHERE resource LIKE 'old%'")$(
    ask "SELECT count(*) FROM ringfence.protected")" 10

# A row that its own statement has written by hand is never the one that was
# looked at: the claim looks again and again.
is "a claim that is overtaken for ever" "$(PGOPTIONS='-c statement_timeout=500ms' timeout 60 \
    psql -X -q -A -t -v VERBOSITY=sqlstate -c "WITH hand AS (UPDATE ringfence.registry
        SET claimed_at = claimed_at WHERE resource = 'held' RETURNING 1)
    SELECT ringfence.guard('held', 6, 'b') FROM hand" 2>&1)" "ERROR:  57014"
