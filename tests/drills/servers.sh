# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# servers.sh - what a drill does to its PostgreSQL (sourced by lib.sh)
#
# Drills that leave the server alive share one.  A drill that kills, copies or
# loses it works on a copy of its own, in a folder below $dir:
#
#   server_copy NAME       of the current one, running, with the drill's database
#   server_standby NAME    follows the current one
#   server_backup NAME     a copy of the current one, not running
#   server_use NAME        sql and workers go there from now on
#   server_run NAME        start it (again), and use it
#   failing_over NAME NAME COMMAND...: a worker that finds whichever takes writes
#   server_kill NAME       at once: every process of it
#   backup_taken NAME      as server_backup; prints how far it goes
#   standby_cut NAME       it gets no more, and stays as it is
#   standby_has NAME       prints how far it goes
#   standby_promote NAME   it takes over, and is used
#
# What was committed is read from a slot of logical decoding, which neither a
# backup nor a standby inherits.  So history_keep reads it before a server goes,
# and history_goes_on hands as much of it as the next server has to the verdict.

#   commits_wait_for NAME  a standby of that name has to have them

servers=()

server_use() { export PGHOST=$dir/$1/socket; }

# pg_run and its like forget what the drill has set.
server_run() {
    local database=$PGDATABASE
    servers+=("$1")
    happens "PostgreSQL $1 starts"
    pg_run "$dir/$1" || fail "server $1 does not start"
    export PGDATABASE=$database
}

failing_over() {
    PGHOST=$dir/$1/socket,$dir/$2/socket PGTARGETSESSIONATTRS=read-write "${@:3}"
}

server_backup() {
    mkdir "$dir/$1"
    pg_backup "${PGHOST%/socket}" "$dir/$1" "${@:2}" || fail "no copy $1"
}

server_copy() {
    server_backup "$1"
    server_run "$1"
    history_begins
}

server_standby() {
    local primary=$PGHOST
    server_backup "$1" -R
    server_run "$1"
    PGHOST=$primary
    await 20 "the standby follows" server_is_followed
}
server_is_followed() {
    [ "$(sql "SELECT state FROM pg_stat_replication")" = streaming ]
}

backup_taken() {
    sql "SELECT pg_current_wal_lsn()"
    server_backup "$1" >&2
}

on_standby() { PGHOST=$dir/$1/socket sql "$2"; }
standby_has() { on_standby "$1" "SELECT pg_last_wal_replay_lsn()"; }
standby_has_all() {
    [ "$(on_standby "$1" "SELECT pg_last_wal_replay_lsn() >=
                              '$(sql "SELECT pg_current_wal_lsn()")'")" = t ]
}

standby_cut() {
    await 20 "the standby has all" standby_has_all "$1"
    happens "standby $1 is cut off"
    on_standby "$1" "ALTER SYSTEM SET primary_conninfo = ''"
    on_standby "$1" "SELECT pg_reload_conf()"
    await 20 "the standby is cut off" standby_is_alone
}
standby_is_alone() { [ -z "$(sql "SELECT pid FROM pg_stat_replication")" ]; }

standby_promote() {
    server_use "$1"
    happens "standby $1 takes over"
    sql "SELECT pg_promote()"
}

# commits_need NAME: commits are acknowledged when the standby has them.
commits_need() {
    sql "ALTER SYSTEM SET synchronous_standby_names = '*'"
    sql "SELECT pg_reload_conf()"
    await 20 "standby $1 is synchronous" standby_is_synchronous
}
standby_is_synchronous() {
    [ "$(sql "SELECT sync_state FROM pg_stat_replication")" = sync ]
}

server_kill() {
    local pid
    happens "PostgreSQL is killed"
    pid=$(cat "$dir/$1/postgres.pid")
    rm -f "$dir/$1/postgres.pid"
    kill -STOP "$pid"
    # shellcheck disable=SC2046 # words on purpose
    kill -KILL $(pg_children "$pid") "$pid"
    wait "$pid" 2>/dev/null
}

# The servers' processes learn it one after the other, so it is tried.
commits_wait_for() {
    local probe=$$
    sql "ALTER SYSTEM SET synchronous_standby_names = '$1'"
    sql "SELECT pg_reload_conf()"
    await 20 "commits wait for $1" probe_waits
    cancel_commit
    await 20 "the probe ends" is_over "$probe"
}
probe_waits() {
    if [ "$probe" = $$ ] || is_over "$probe"; then
        sql "SELECT pg_logical_emit_message(true, '', '')" &
        probe=$!
        workers+=("$probe")
    fi
    commit_waits
}
commit_waits() {
    [ -n "$(sql "SELECT pid FROM pg_stat_activity
                 WHERE datname = current_database()
                 AND wait_event = 'SyncRep'")" ]
}

cancel_commit() {
    sql "SELECT pg_cancel_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event = 'SyncRep'"
}

servers_stop() {
    local name
    for name in "${servers[@]}"; do
        pg_stop "$dir/$name"
    done
}

# ---- History ----------------------------------------------------------------------

history_begins() {
    sql "SELECT pg_create_logical_replication_slot('$PGDATABASE',
                                                   'test_decoding')"
}

# All that the current server has committed so far, to $dir/history.
history_keep() {
    sql "COPY (SELECT lsn, xid, data FROM pg_logical_slot_peek_changes(
             '$PGDATABASE', NULL, NULL, 'include-xids', '0',
             'include-timestamp', '1'))
         TO STDOUT" >"$dir/history"
}

# history_goes_on LSN: on the current server, which has all that was committed up
# to there.
history_goes_on() {
    history_begins
    sql "CREATE TABLE earlier (n bigserial, data text);
         CREATE TABLE old (n bigserial, lsn pg_lsn, xid text, data text)"
    psql -X -q -c "\\copy old (lsn, xid, data) FROM '$dir/history'"
    sql "INSERT INTO earlier (data) SELECT data FROM old
         WHERE xid IN (SELECT xid FROM old
                       WHERE data LIKE 'COMMIT%' AND lsn <= '$1')
         ORDER BY n"
}

# verdict FILE: what was committed, and what the report wants of it
verdict() {
    psql -X -q -v slot="$PGDATABASE" -f "$RF_ROOT/tests/drills/verdict.sql" \
        -f "$RF_ROOT/tests/drills/$1" <"$dir/log" >"$dir/verdict" ||
        rm -f "$dir/verdict"
}
