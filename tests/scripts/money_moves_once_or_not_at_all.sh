#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Four payment services at once, while connections are cut, Redis is flushed and
# one of them is killed; every request is asked again until it has an answer.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/lib/redis.sh
. "$RF_ROOT/tests/lib/redis.sh"

dir=$(mktemp -d /tmp/rf.XXXXXX)
finish() {
    kill -KILL "${service[@]}" 2>/dev/null
    redis_stop "$dir"
    rm -rf "$dir"
}
service=()
trap finish EXIT
redis_start "$dir" || exit 1
query() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

# The same requests for everybody who asks: names, accounts and sums by number.
people=(ada bob cleo dan)
RANDOM=7
for ((i = 0; i < 60; i++)); do
    from=$((RANDOM % 4))
    echo "t$i ${people[from]} ${people[(from + 1 + RANDOM % 3) % 4]} $((RANDOM % 400 + 1))"
done >"$dir/requests"

# Two of the services are given the same half, two the other.
start() {
    awk -v half=$(($1 % 2)) 'NR % 2 == half' "$dir/requests" |
        PGAPPNAME="ledger $1" "$RF_BUILD/examples/ledger" \
            "redis+unix://$dir/redis.sock" >>"$dir/answers.$1" 2>&1 &
    service[$1]=$!
}
answered() { cat "$dir"/answers.* 2>/dev/null | grep -c ' \(done\|poor\)$'; }
until_answered() {
    local i
    for ((i = 0; i < 1500; i++)); do
        [ "$(answered)" -ge "$1" ] && return 0
        sleep 0.02
    done
    return 1
}
cut() {
    query -o /dev/null -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name LIKE 'ledger %'"
}
balances() { query -c 'SELECT sum(balance) FROM account'; }

plan 8
ok "the tables are created" query -o /dev/null -f "$RF_ROOT/examples/ledger.sql"
for i in 0 1 2 3; do start $i; done
ok "they are at work" until_answered 10
cut
redis-cli -s "$dir/redis.sock" flushall >"$dir/said"
ok "and go on without connections and memory" until_answered 25
kill -KILL "${service[2]}"
wait "${service[2]}" 2>/dev/null
cut
start 2
wait "${service[@]}" 2>/dev/null
is "every request has an answer from each who asked" \
    "$(cat "$dir"/answers.[013] | grep -c ' \(done\|poor\)$')" 90
is "no money was made or lost" "$(balances)" 4000
is "each transfer is booked once on both sides" \
    "$(query -c 'SELECT count(*) FROM (SELECT transfer FROM entry GROUP BY 1
        HAVING count(*) <> 2 OR sum(amount) <> 0) AS t')" 0
is "the balances are what was booked" "$(query -c "
    SELECT count(*) FROM account a WHERE balance <> 1000 + (SELECT
    coalesce(sum(amount), 0) FROM entry WHERE account = a.name)")" 0
is "and what was told is there" "$(cat "$dir"/answers.* |
    sed -n 's/ done$//p' | sort -u)" \
    "$(query -c 'SELECT DISTINCT transfer FROM entry' | sort)"
