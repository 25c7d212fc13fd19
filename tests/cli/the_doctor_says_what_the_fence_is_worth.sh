#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# ringfence doctor: every sickness of Redis and PostgreSQL that it knows is given
# to them, and must be found, with what it means and what to do.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"

# found SUBJECT: severity and what was found, of the first of that name.
found() {
    ringfence doctor --json 2>/dev/null | jq -r --arg subject "$1" \
        '[.[] | select(.subject == $subject)][0] | .severity + " " + .found'
}
severity() { found "$1" | cut -d' ' -f1; }

plan 44

# ---- Redis -----------------------------------------------------------------

is "the version" "$(severity version)" ok
is "a master" "$(severity role)" ok
is "no eviction" "$(severity eviction)" ok
is "no persistence is good to know" "$(found persistence)" "notice none"
is "a good clock" "$(severity clock)" ok
is "all permissions" "$(found permissions)" "ok all that locks need"
is "good counters" "$(severity counters)" ok
is "2: without a database nobody checks the fence" "$(code ringfence doctor)" 2
is "which is said" "$(found "the fence")" "warning is checked by nobody"
is "nothing is left behind" "$(redis DBSIZE)" 0

redis CONFIG SET maxmemory-policy allkeys-lru >/dev/null
is "eviction without a limit" "$(severity eviction)" notice
redis CONFIG SET maxmemory 100mb >/dev/null
is "of counters" "$(severity eviction)" warning
redis CONFIG SET maxmemory-policy volatile-lru >/dev/null
ok "of locks" grep -q 'locks themselves' <(ringfence doctor)
redis CONFIG SET maxmemory-policy noeviction >/dev/null
redis CONFIG SET maxmemory 1mb >/dev/null
is "nearly full" "$(severity memory)" warning
redis CONFIG SET maxmemory 0 >/dev/null
redis CONFIG SET appendonly yes >/dev/null
is "on disk" "$(found persistence)" "ok append-only file"
redis CONFIG SET appendonly no >/dev/null

redis SET '{lock:v1:a}:fence' rubbish >/dev/null
redis RPUSH '{lock:v1:c}:fence' 4 >/dev/null
redis SET '{lock:v1:d}:fence' 4 >/dev/null
redis SET '{other:e}:fence' rubbish >/dev/null
is "counters that are none, by their keys" \
    "$(ringfence doctor --json | json '.[] | select(.subject == "counter") | .found' | sort | xargs)" \
    "{lock:v1:a}:fence {lock:v1:c}:fence"
is "are critical" "$(code ringfence doctor)" 1
redis FLUSHALL >/dev/null
redis SET '{lock:v1:b}:fence' 4 EX 1000 >/dev/null
is "one that runs out may be meant" "$(found counters)" "notice 1 looked at, 0 bad, 1 run out when idle"
redis FLUSHALL >/dev/null
redis SET '{lock:v1:forever}' token >/dev/null
is "a lock without an end" "$(found lock)" "warning forever"
redis FLUSHALL >/dev/null

redis ACL SETUSER app on '>hunter2' resetkeys '~{lock:v1:*' nocommands +evalsha +eval \
    +get +set +incr +pttl +pexpire +del +exists +llen +rpush +blpop >/dev/null
as_app() { RINGFENCE_URL="redis+unix://app:hunter2@$TMPDIR/redis.sock" "$@"; }
is "a user with the least permissions can have locks" \
    "$(as_app found permissions | cut -c1-24)" "notice refused: time zad"
is "what it may not ask for is unknown" "$(as_app severity info) $(as_app severity counters)" \
    "notice notice"
redis ACL SETUSER app -incr -del >/dev/null
is "missing permissions" "$(as_app found permissions)" "critical refused: del"
redis ACL SETUSER app +del >/dev/null
is "by name" "$(as_app found permissions)" "critical refused: incr"
redis ACL SETUSER app -eval -evalsha >/dev/null
is "no scripts at all" "$(as_app severity permissions)" critical
is "and nothing is left behind" "$(redis DBSIZE)" 0

mkdir replica
redis_start "$TMPDIR/replica" --replicaof 127.0.0.1 1
is "a replica" "$(RINGFENCE_URL=redis+unix://$TMPDIR/replica/redis.sock severity role)" critical
redis_stop "$TMPDIR/replica"
is "1: no lock service" "$(RINGFENCE_URL=redis+unix:///nonexistent code ringfence doctor)" 1
is "which is said, and no more" "$(RINGFENCE_URL=redis+unix:///nonexistent found "lock service" | cut -d: -f1)" \
    "critical cannot connect to /nonexistent"

# ---- PostgreSQL ------------------------------------------------------------

# Our servers run without fsync, which is a finding by itself.
export RINGFENCE_PG="host=$test_host dbname=$test_database"
is "1 without fsync" "$(found fsync) $(code ringfence doctor)" "critical off 1"
is "the extension" "$(severity extension)" ok
is "a primary" "$(ringfence doctor --json | json '.[] | select(.where | startswith("database")) | select(.subject == "role") | .severity')" ok
is "preloaded" "$(found preload)" "ok yes"
is "privileges" "$(severity privileges)" ok
is "no protected table" "$(severity 'protected tables')" warning
sql "CREATE TABLE stock (sku text PRIMARY KEY, fence bigint)" >/dev/null
sql "SELECT ringfence.protect('stock', 'fence')" >/dev/null
is "a protected one" "$(found 'protected tables')" "ok 1 enforced, 0 observed"
sql "ALTER TABLE stock DISABLE TRIGGER \"~ringfence_seal\"" >/dev/null
is "what audit() finds" "$(severity public.stock)" critical
sql "SELECT ringfence.protect('stock', 'fence')" >/dev/null
is "or that it finds nothing" "$(found audit)" "ok no hole was found"
is "asynchronous commits" "$(PGOPTIONS='-c synchronous_commit=off' severity synchronous_commit)" notice
is "transactions without an end" "$(severity idle_in_transaction_session_timeout)" notice
is "and with one" \
    "$(PGOPTIONS='-c idle_in_transaction_session_timeout=30s' severity idle_in_transaction_session_timeout)" ok
sql "SELECT ringfence.guard('job', 70, 'x')" >/dev/null
ok "counters below the database" grep -q '1 of the newest 1 are below' <(ringfence doctor)
role=doctor_$test_database
sql "CREATE ROLE $role LOGIN" >/dev/null
is "a role that may not claim" \
    "$(RINGFENCE_PG="$RINGFENCE_PG user=$role" severity privileges)" critical
sql "DROP ROLE $role"
is "no extension" "$(RINGFENCE_PG="host=$test_host dbname=postgres" severity extension)" critical
is "no database" "$(RINGFENCE_PG="host=$TMPDIR" severity database)" critical
