# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# postgres.sh - a throwaway PostgreSQL that knows our extension (to be sourced)
#
#   pg_start DIR [LINE...]  start one in DIR, with LINEs added to its settings;
#                           exports PGHOST, PGPORT, PGUSER
#   pg_stop DIR             stop it by pid, as a crash would; DIR itself is
#                           left to the caller
#   pg_run DIR              start it again
#   pg_backup FROM DIR      a copy, as pg_basebackup makes it, not yet running
#   pg_standby FROM DIR     a copy that follows the server of folder FROM
#
# PostgreSQL finds its files relative to its own binary, as long as the path
# keeps its tail.  So DIR/root mirrors the installed tree with links, and our
# "make install DESTDIR=DIR/root" puts the extension there: nobody's system
# folders are touched.  DIR must be short: a socket's path has 107 bytes.

PG_CONFIG=${PG_CONFIG:-pg_config}
# psql and the others of that version, not of the newest that is installed.
PATH=$($PG_CONFIG --bindir):$PATH

RF_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Who owns the server: root may not.  The server gets SIGQUIT should this
# shell die without having stopped it.
PG_OWNER=$(id -un)
PG_AS=(setpriv --pdeathsig QUIT --)
if [ "$(id -u)" = 0 ]; then
    PG_OWNER=postgres
    id "$PG_OWNER" >/dev/null 2>&1 || PG_OWNER=nobody
    PG_AS=(setpriv --reuid "$PG_OWNER" --regid "$(id -g "$PG_OWNER")"
        --clear-groups --pdeathsig QUIT --)
fi

# pg_link_folder FROM TO: TO has a link to everything in FROM but our own.
pg_link_folder() {
    local entry
    mkdir -p "$2"
    for entry in "$1"/*; do
        case ${entry##*/} in
            ringfence* | bitcode | extension) ;;
            *) ln -s "$entry" "$2/" ;;
        esac
    done
}

# pg_tree DIR: the private copy of the server's tree, our extension in it.
pg_tree() {
    local root=$1/root bin lib share
    bin=$($PG_CONFIG --bindir)
    lib=$($PG_CONFIG --pkglibdir)
    share=$($PG_CONFIG --sharedir)
    mkdir -p "$root$bin"
    # Copies, since a link would lead the server back to the original place.
    cp "$bin"/{postgres,initdb,pg_ctl} "$root$bin/"
    pg_link_folder "$lib" "$root$lib"
    pg_link_folder "$share" "$root$share"
    pg_link_folder "$share/extension" "$root$share/extension"
    env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory -C "$RF_ROOT" \
        install-extension DESTDIR="$root" >"$1/install.log" 2>&1 || {
        cat "$1/install.log" >&2
        return 1
    }
}

pg_settings() {
    cat <<CONF
listen_addresses = ''
unix_socket_directories = '$1/socket'
fsync = off
wal_level = logical
max_prepared_transactions = 20
max_connections = 100
shared_buffers = 64MB
timezone = 'UTC'
log_line_prefix = '%m [%p] %d '
CONF
    shift
    [ $# = 0 ] || printf '%s\n' "$@"
}

pg_start() {
    local dir=$1 bin
    shift
    bin=$dir/root$($PG_CONFIG --bindir)
    pg_tree "$dir" || return 1
    mkdir -p "$dir/data" "$dir/socket"
    chmod 755 "$dir"
    chown "$PG_OWNER" "$dir/data" "$dir/socket"
    "${PG_AS[@]}" "$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 \
        --locale=C.UTF-8 --no-sync >"$dir/initdb.log" 2>&1 || {
        cat "$dir/initdb.log" >&2
        return 1
    }
    pg_settings "$dir" "$@" >>"$dir/data/postgresql.conf"
    pg_run "$dir"
}

# pg_run DIR: start what pg_start made, after pg_stop.
pg_run() {
    local dir=$1 bin
    bin=$dir/root$($PG_CONFIG --bindir)
    export PGHOST=$dir/socket PGPORT=5432 PGUSER=postgres
    unset PGDATABASE PGPASSWORD PGSERVICE PGOPTIONS
    "${PG_AS[@]}" env ${PG_PRELOAD:+LD_PRELOAD="$PG_PRELOAD"} \
        ${PG_ASAN:+ASAN_OPTIONS="$PG_ASAN"} "$bin/postgres" -D "$dir/data" >>"$dir/postgres.log" 2>&1 &
    echo $! >"$dir/postgres.pid"
    pg_wait "$dir"
}

# pg_backup FROM DIR [ARG...]: a copy of the server of folder FROM, with data and
# socket of its own, from the same tree; ARGs are pg_basebackup's.
pg_backup() {
    local from=$1 dir=$2
    shift 2
    mkdir -p "$dir/socket"
    chmod 755 "$dir"
    ln -s "$from/root" "$dir/root"
    chown "$PG_OWNER" "$dir" "$dir/socket"
    "${PG_AS[@]}" "$($PG_CONFIG --bindir)/pg_basebackup" -h "$from/socket" \
        -p 5432 -U postgres -D "$dir/data" -X stream -c fast --no-sync "$@" ||
        return 1
    echo "unix_socket_directories = '$dir/socket'" >>"$dir/data/postgresql.conf"
}

pg_standby() { pg_backup "$1" "$2" -R && pg_run "$2"; }

# pg_wait DIR: until it answers, at most a minute.
pg_wait() {
    local i pid
    pid=$(cat "$1/postgres.pid")
    for ((i = 0; i < 600; i++)); do
        PGCONNECT_TIMEOUT=5 psql -X -q -d postgres -c '' 2>/dev/null && return 0
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    echo "PostgreSQL did not start:" >&2
    cat "$1/postgres.log" >&2
    return 1
}

# pg_children PID: what the server has forked, a number a line
pg_children() {
    local stat name ppid
    for stat in /proc/[0-9]*/stat; do
        { read -r name <"$stat"; } 2>/dev/null || continue
        read -r _ ppid _ <<<"${name##*) }"
        [ "$ppid" != "$1" ] || echo "${name%% *}"
    done
}

# pg_stop DIR: at once, without a checkpoint; nothing in it is kept.  A server
# that is still starting does not listen to QUIT, and one of whose processes a
# test has stopped waits for it: so that goes on, to end.  As the last resort all
# of them are killed; those of a server that was killed alone would stay.
pg_stop() {
    local pid i
    [ -f "$1/postgres.pid" ] || return 0
    pid=$(cat "$1/postgres.pid")
    rm -f "$1/postgres.pid"
    for ((i = 0; i < 100; i++)); do
        kill -QUIT "$pid" 2>/dev/null || break
        # shellcheck disable=SC2046 # words on purpose
        [ $i != 4 ] || kill -CONT $(pg_children "$pid") 2>/dev/null || true
        sleep 0.05
    done
    # Stopped first, so that none is forked meanwhile.
    if kill -STOP "$pid" 2>/dev/null; then
        # shellcheck disable=SC2046 # words on purpose
        kill -KILL $(pg_children "$pid") "$pid" 2>/dev/null || true
    fi
    wait "$pid" 2>/dev/null || true
}
