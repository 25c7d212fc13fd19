#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Runs the small examples against a Redis of their own.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/lib/redis.sh
. "$RF_ROOT/tests/lib/redis.sh"

DIR=$(mktemp -d /tmp/rf.XXXXXX)
trap 'redis_stop "$DIR"; rm -rf "$DIR"' EXIT
redis_start "$DIR" || exit 1
url=redis+unix://$DIR/redis.sock

query() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
says() { grep "$1" <<<"$story" || ! echo "$story"; }
remaining() { query -c "SELECT remaining FROM stock WHERE sku = 'apple'"; }

plan 9
ok "the table is created" query -f "$RF_ROOT/examples/stock.sql"
is "a whole section sells one" \
    "$("$RF_BUILD/examples/sell_one" "$url" | cut -d: -f1)" RF_OK
is "and the stock says so" "$(remaining)" 99

story=$("$RF_BUILD/examples/two_holders" "$url")
is "the old holder was refused" $? 0
# shellcheck disable=SC2001 # every line, not the first match
is "in these words" "$(sed 's/^\(\([^ ]* \)\{4\}\).*/\1/' <<<"$story" | head -3)" \
    "$(printf '%s\n' 'A holds fence 2 ' 'B holds fence 3 ' 'B sells one: RF_OK')"
ok "its own clock stopped it first" says '^A sells one: RF_LOST, '
ok "then the database" says '^A tries by SQL: RF001$'
is "only the new holder sold" "$(remaining)" 98

query -c 'UPDATE stock SET remaining = 5' 2>"$DIR/err"
ok "the table refuses what carries no fence" grep -q 'not fenced' "$DIR/err"
