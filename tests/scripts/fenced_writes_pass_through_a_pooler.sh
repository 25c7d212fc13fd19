#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# The client's fenced writes through PgBouncer in transaction mode: the guard
# and its statement share a transaction, so they share a server connection.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/lib/redis.sh
. "$RF_ROOT/tests/lib/redis.sh"

dir=$(mktemp -d /tmp/rf.XXXXXX)
pooler=
finish() {
    [ -z "$pooler" ] || { kill "$pooler" && wait "$pooler"; } 2>/dev/null
    redis_stop "$dir"
    rm -rf "$dir"
}
trap finish EXIT
redis_start "$dir" || exit 1
url=redis+unix://$dir/redis.sock

query() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
pooled() { PGHOST=$dir PGPORT=6432 "$@"; }

# The pooler may not be root: it runs as whom the server runs as.
as=()
if [ "$(id -u)" = 0 ]; then
    owner=$(stat -c %U "$PGHOST/.s.PGSQL.$PGPORT")
    chown "$owner" "$dir"
    as=(setpriv --reuid "$owner" --regid "$(id -g "$owner")" --clear-groups)
fi
cat >"$dir/pooler.ini" <<INI
[databases]
$PGDATABASE = host=$PGHOST port=$PGPORT user=$PGUSER
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = $dir
auth_type = any
pool_mode = transaction
default_pool_size = 1
logfile = $dir/log
INI
chmod 644 "$dir/pooler.ini"
pgbouncer=$(PATH=$PATH:/usr/sbin command -v pgbouncer)
"${as[@]}" setpriv --pdeathsig TERM -- "$pgbouncer" -q "$dir/pooler.ini" \
    >"$dir/said" 2>&1 &
pooler=$!
for ((i = 0; i < 100; i++)); do
    pooled query -c '' 2>/dev/null && break
    sleep 0.1
done

plan 7
ok "the tables are created" \
    query -f "$RF_ROOT/examples/stock.sql" -f "$RF_ROOT/examples/orders.sql"
is "one statement is fenced" \
    "$(pooled "$RF_BUILD/examples/sell_one" "$url" | cut -d: -f1)" RF_OK
ok "a transaction is fenced" pooled "$RF_BUILD/examples/order" "$url" one

# While one holder is in its transaction, the others wait for the connection.
pids=()
for number in two three four five; do
    pooled "$RF_BUILD/examples/order" "$url" $number >"$dir/$number" 2>&1 &
    pids[${#pids[@]}]=$!
done
sold=0
for pid in "${pids[@]}"; do
    wait "$pid" && sold=$((sold + 1))
done
is "four at once are served" "$sold" 4
is "each once" "$(query -c 'SELECT count(*) FROM orders')" 5
is "and the stock says so" "$(query -c 'SELECT remaining FROM stock')" 94

story=$(pooled "$RF_BUILD/examples/two_holders" "$url")
is "an old holder is refused" $? 0
printf '# %s\n' "${story//$'\n'/$'\n'# }"
