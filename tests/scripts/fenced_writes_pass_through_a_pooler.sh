#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# The client's fenced writes through PgBouncer in transaction mode: the guard
# and its statement share a transaction, so they share a server connection.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/lib/pgbouncer.sh
. "$RF_ROOT/tests/lib/pgbouncer.sh"
# shellcheck source=tests/lib/redis.sh
. "$RF_ROOT/tests/lib/redis.sh"

dir=$(mktemp -d /tmp/rf.XXXXXX)
finish() {
    pooler_stop "$dir"
    redis_stop "$dir"
    rm -rf "$dir"
}
trap finish EXIT
redis_start "$dir" || exit 1
url=redis+unix://$dir/redis.sock

query() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
pooled() { PGHOST=$dir PGPORT=6432 "$@"; }

pooler_start "$dir" || exit 1

plan 8
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
is "and nothing was prepared in the server's connection" \
    "$(pooled query -c 'SELECT count(*) FROM pg_prepared_statements')" 0
printf '# %s\n' "${story//$'\n'/$'\n'# }"
