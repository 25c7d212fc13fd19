# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# A throwaway PgBouncer in front of the test's own database, in transaction
# mode, with one server connection for all clients.
#
#   pooler_start DIR    in a folder of the caller's; port 6432 in DIR
#   pooler_stop DIR

pooler_ini() {
    cat <<INI
[databases]
$PGDATABASE = host=$PGHOST port=$PGPORT user=$PGUSER
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = $1
auth_type = any
pool_mode = transaction
default_pool_size = 1
logfile = $1/log
INI
}

# PgBouncer may not be root: it runs as whom the server runs as.
pooler_start() {
    local dir=$1 as=() owner pgbouncer i
    pgbouncer=$(PATH=$PATH:/usr/sbin command -v pgbouncer) || return 1
    if [ "$(id -u)" = 0 ]; then
        owner=$(stat -c %U "$PGHOST/.s.PGSQL.$PGPORT")
        chown "$owner" "$dir"
        as=(setpriv --reuid "$owner" --regid "$(id -g "$owner")" --clear-groups)
    fi
    pooler_ini "$dir" >"$dir/pooler.ini"
    chmod 644 "$dir/pooler.ini"
    "${as[@]}" setpriv --pdeathsig TERM -- "$pgbouncer" -q "$dir/pooler.ini" \
        >"$dir/said" 2>&1 &
    echo $! >"$dir/pooler.pid"
    for ((i = 0; i < 100; i++)); do
        psql -X -q -h "$dir" -p 6432 -c '' 2>/dev/null && return 0
        sleep 0.1
    done
    cat "$dir/said" >&2
    return 1
}

pooler_stop() {
    local pid
    [ -f "$1/pooler.pid" ] || return 0
    pid=$(cat "$1/pooler.pid")
    kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
    rm -f "$1/pooler.pid"
}
