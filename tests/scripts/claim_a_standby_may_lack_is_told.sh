#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# case 47
# A synchronous standby hangs, and somebody cancels the wait for it.  The claim
# is then as any such commit: good here, told by a WARNING, and gone should the
# standby take over.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/lib/postgres.sh
. "$RF_ROOT/tests/lib/postgres.sh"
# shellcheck source=tests/lib/redis.sh
. "$RF_ROOT/tests/lib/redis.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

dir=$(mktemp -d /tmp/rf.XXXXXX)
standby=$dir/standby
receiver=
finish_all() {
    redis_stop "$dir"
    [ -z "$receiver" ] || kill -KILL "$receiver" 2>/dev/null
    pg_stop "$standby"
    pg_stop "$dir"
    rm -rf "$dir"
}
trap finish_all EXIT

pg_start "$dir" || exit 1
redis_start "$dir" || exit 1
export PGDATABASE=postgres
ask "CREATE EXTENSION ringfence" >/dev/null
psql -X -q -f "$RF_ROOT/examples/stock.sql" >/dev/null
ask "SELECT ringfence.guard('r', 5, 'a')" >/dev/null

pg_standby "$dir" "$standby" >/dev/null || exit 1
primary=$dir/socket
PGHOST=$primary
ask "ALTER SYSTEM SET synchronous_standby_names = '*'" >/dev/null
ask "SELECT pg_reload_conf()" >/dev/null
wait_until "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
receiver=$(PGHOST=$standby/socket ask "SELECT pid FROM pg_stat_activity
    WHERE backend_type = 'walreceiver'")

plan 16

is "a claim is on the standby when it is acknowledged" \
    "$(ask "SET synchronous_commit = remote_apply; SELECT ringfence.guard('r', 6, 'b')")$(
        PGHOST=$standby/socket ask "SELECT fence FROM ringfence.registry WHERE resource = 'r'")" t6
kill -STOP "$receiver"

# ---- The standby does not answer ----------------------------------------------

waiting="SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
cancel="SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    WHERE wait_event = 'SyncRep'"
session claim
tell claim "SELECT ringfence.guard('r', 7, 'c')"
ok "a claim waits for it" wait_until "$waiting"
is "and is in the way of the next one meanwhile" \
    "$(ask "SET lock_timeout = '300ms'; SELECT ringfence.guard('r', 8, 'd')")" "ERROR:  55P03"
is "which can't end what has been committed" \
    "$(ask "SET lock_timeout = '300ms'; BEGIN; SELECT ringfence.guard('r', 8, 'd', preempt => true); ROLLBACK")" "ERROR:  55P03"
is "it waits on" "$(ask "$waiting")" 1

ask "$cancel" >/dev/null
tell claim "SELECT 'still here'"
finish claim
is "who cancels the wait gets a WARNING, no error" \
    "$(cut -d: -f1,2 "$TMPDIR/claim.err")" "WARNING:  01000"
is "and the claim" "$(head -n 2 "$(out claim)" | tr '\n' ' ')" "t still here "
is "which holds here" \
    "$(ask "SELECT ringfence.try_guard('r', 6, 'b'), ringfence.high_water('r')")" "f|7"

# ---- The same from C -------------------------------------------------------------

"$RF_BUILD/examples/sell_one" "redis+unix://$dir/redis.sock" \
    >"$TMPDIR/sold" 2>"$TMPDIR/notices" &
seller=$!
ok "rf_pg_acquire() waits for its claim" wait_until "$waiting"
first=$(ask "SELECT max(query_start) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
ask "$cancel" >/dev/null
ok "then rf_pg_exec() for its write" \
    wait_until "$waiting AND query_start > '$first'"
ask "$cancel" >/dev/null
wait $seller
is "both say RF_OK: it is committed" "$(cut -d: -f1 "$TMPDIR/sold")" RF_OK
is "and is" "$(ask "SELECT remaining FROM stock")" 99
is "with a WARNING each" "$(grep -c '^WARNING: .*canceling wait' "$TMPDIR/notices")" 2

# ---- The primary is lost -----------------------------------------------------------

pg_stop "$dir"
kill -KILL "$receiver"
receiver=
pg_stop "$standby"
pg_run "$standby"
ask "SELECT pg_promote()" >/dev/null
is "the standby that takes over never heard of it" \
    "$(ask "SELECT ringfence.high_water('r')")" 6
is "and accepts what was refused" "$(ask "SELECT ringfence.guard('r', 6, 'b')")" t
is "until a greater one is claimed" \
    "$(ask "SELECT ringfence.guard('r', 8, 'd'), ringfence.try_guard('r', 7, 'c')")" "t|f"
