# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# lib.sh - what drills say often (sourced by run, before each drill)
#
# A drill runs in a folder ($dir) and a database of its own, with its own Redis.
# $mode is guarded or weakened.  Waiting is for a condition with a limit.

# shellcheck source=tests/lib/redis.sh
. "$RF_ROOT/tests/lib/redis.sh"
# shellcheck source=tests/drills/servers.sh
. "$RF_ROOT/tests/drills/servers.sh"

# fail WHY: the drill could not be played; that is a failure in either mode.
fail() {
    echo "BROKEN: $*" >>"$dir/broken"
    exit 1
}

# must WHAT COMMAND...: something besides the invariants that has to hold.
must() {
    local what=$1
    shift
    "$@" >/dev/null 2>&1 || echo "must: $what" >>"$dir/violations"
}

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 -c "$1"; }

# What only looks; anything else is done to the world, and the report shows it.
redis() {
    case $1 in
    get | exists | info | ping | pttl | ttl | llen | dbsize | --pipe) ;;
    *) happens "Redis: $*" ;;
    esac
    redis-cli -s "$dir/redis.sock" "$@"
}

# ---- What the report shows beside what the workers tell -------------------------

# The log has one clock, the workers' (CLOCK_BOOTTIME).  The shell and
# PostgreSQL have the time of the day: the first line pairs the two.
log_begins() {
    local boot day
    "$RF_BUILD/drills/worker" log="$dir/log" name=world say=clock || return
    IFS=$'\t' read -r boot _ _ day <"$dir/log"
    clock_skew=$((day - boot))
}

# world WORD TEXT: a line of the log, for something no worker tells.
world() {
    printf '%d\tworld\t%s\t%s\n' \
        $((${EPOCHREALTIME/[.,]/} / 1000 - clock_skew)) "$1" "$2" >>"$dir/log"
}

# happens WHAT: the drill does this to the world now; a few words.
happens() { world happens "$*"; }

# in_time SECONDS COMMAND...: until it succeeds, or not
in_time() {
    local end=$((SECONDS + $1 + 1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.02
    done
}

# await SECONDS WHAT COMMAND...: until it succeeds
await() {
    local seconds=$1 what=$2
    shift 2
    in_time "$seconds" "$@" || fail "waited in vain: $what"
}

# ---- Workers: "worker NAME setting=value..." starts one, pid in $NAME ----------

workers=()
worker_names=() # by process id
worker() {
    local who=$1 extra=() word
    shift
    case $mode$weak in
    weakenedrecipe | weakenedcached | weakenedsteps | weakenedwall)
        extra=(style="$weak" again=0)
        ;;
    weakenedgloomy) extra=(gloomy=1) ;;
    weakenedseeded) extra=(seeded=1) ;;
    esac
    setpriv --pdeathsig KILL -- "$RF_BUILD/drills/worker" log="$dir/log" \
        name="$who" redis="$dir/redis.sock" seed="$seed" "$@" "${extra[@]}" \
        >>"$dir/worker.out" 2>&1 &
    workers+=($!)
    worker_names[$!]=$who
    printf -v "$who" %s $!
    disown $! # so that the shell does not tell of those that are killed
    for word in "$@"; do
        case $word in
        fault=*) happens "way to Redis of $who: ${word#*=}" ;;
        pgfault=*) happens "way to PostgreSQL of $who: ${word#*=}" ;;
        esac
    done
}

is_stopped() { [ "$(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null)" = T ]; }
is_over() { ! kill -0 "$1" 2>/dev/null || is_zombie "$1"; }
is_zombie() { [ "$(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null)" = Z ]; }
logged() { grep -qE "$1" "$dir/log"; }

until_stopped() { await 20 "worker $1 stops" is_stopped "$1"; }
go_on() {
    world continued "${worker_names[$1]}"
    kill -CONT "$1"
}
until_over() { await "${2:-30}" "worker $1 ends" is_over "$1"; }
stop_worker() {
    kill -STOP "$1" && until_stopped "$1"
    world stopped "${worker_names[$1]}"
}

# One more section by somebody else has to succeed: the world is well.
alive() {
    worker after ttl=3000 wait=8000 "$@"
    # shellcheck disable=SC2154 # set by worker
    until_over "$after" 20
    must "a fresh section succeeds (I11)" \
        grep -qP "\tafter\ttold\t.*\tdone\t" "$dir/log"
}

lock_key="{lock:v1:a}"
lock_is_gone() { [ "$(redis exists "$lock_key")" = 0 ]; }
until_lock_is_gone() { await 20 "the lock runs out" lock_is_gone; }

drill_stop() {
    local pid
    for pid in "${workers[@]}"; do
        kill -KILL "$pid" 2>/dev/null
        kill -CONT "$pid" 2>/dev/null
    done
    servers_stop
    redis_stop "$dir"
}
drill_end() {
    verdict record.sql
    drill_stop
}

# ---- The database -----------------------------------------------------------------

# The table that is protected, the one that tells its history, the slot that
# tells it in the order of commits.
tables() {
    sql "CREATE TABLE item (name text PRIMARY KEY, newest text, fence bigint);
         CREATE TABLE work (op text PRIMARY KEY, resource text, base text,
                            fence bigint, holder text);
         INSERT INTO item VALUES ('a', '', 0), ('b', '', 0), ('c', '', 0);"
    case $mode$weak in guarded* | weakenedgloomy | weakenedseeded | weakenedrule)
        sql "SELECT ringfence.protect('item', 'fence', '{name}');
             SELECT ringfence.protect('work', 'fence', '{resource}');"
        ;;
    esac
    history_begins
}

# What "# Weakened:" may say: guard (taken out, the default), lower (the usual
# rule in its place), a style of recipe.h (no library, no guard), or, with the
# guard as it is: gloomy (a worker that takes "unknown" for "refused"), seeded
# (one that draws its holder from a generator in memory), and rule (a rule of the
# manual that the drill itself breaks).
#
# The guard is taken out, or replaced by the usual rule; fence() has to answer,
# and nobody tells a floor.
weaken() {
    local body="SELECT true"
    [ "$mode" = weakened ] || return 0
    case $weak in gloomy | seeded | rule) return 0 ;; esac
    sql "CREATE OR REPLACE FUNCTION ringfence.fence(resource text)
         RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
         CREATE OR REPLACE FUNCTION ringfence.high_water(resource text)
         RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'"
    [ "$weak" != lower ] || body="
         INSERT INTO ringfence.registry AS r VALUES (\$1, \$2, \$3, now())
         ON CONFLICT ON CONSTRAINT registry_pkey
         DO UPDATE SET fence = \$2 WHERE r.fence <= \$2
         RETURNING true"
    sql "CREATE OR REPLACE FUNCTION ringfence.guard(resource text,
             fence bigint, holder text DEFAULT NULL,
             lease interval DEFAULT NULL, preempt boolean DEFAULT false)
         RETURNS boolean LANGUAGE sql AS \$\$ $body \$\$"
    [ "$weak" != lower ] || sql "
         CREATE FUNCTION refuse_lower(text, bigint, text) RETURNS boolean
         LANGUAGE sql AS \$\$ $body \$\$;
         CREATE OR REPLACE FUNCTION ringfence.guard(resource text,
             fence bigint, holder text DEFAULT NULL,
             lease interval DEFAULT NULL, preempt boolean DEFAULT false)
         RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN
             IF refuse_lower(resource, fence, holder) THEN RETURN true; END IF;
             RAISE 'fence is stale' USING ERRCODE = 'RF001';
         END \$\$"
}
