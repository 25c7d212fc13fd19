#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Four inventory services at once.  Their packer stops one of them, kills another
# and hangs for ever, each in the middle of a section; connections are cut and
# Redis is flushed.  Every request is asked until it has an answer, and then the
# stock is counted.
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

# What the packer does to some of the reservations, the first time.
export DIR=$dir
cat >"$dir/packer" <<'SH'
#!/bin/sh
mv "$DIR/trouble.$1" "$DIR/made.$1" 2>/dev/null || exit 0
case $(cat "$DIR/made.$1") in
stop) kill -STOP $PPID ;;
kill) kill -KILL $PPID ;;
refuse) exit 1 ;;
hang)
    echo $$ >"$DIR/hanging"
    exec sleep 250
    ;;
esac
SH
chmod 755 "$dir/packer"
echo stop >"$dir/trouble.r3"
echo kill >"$dir/trouble.r8"
echo hang >"$dir/trouble.r12"
echo refuse >"$dir/trouble.fig"

# Deliveries, then reservations of two articles each; most leave, some come back.
articles=(apple pear plum quince)
RANDOM=7
for sku in "${articles[@]}"; do
    echo "d-$sku RECEIVE d-$sku $sku 50"
done >"$dir/deliveries"
for ((i = 0; i < 40; i++)); do
    a=$((RANDOM % 4))
    b=$(((a + 1 + RANDOM % 3) % 4))
    echo "a$i RESERVE r$i ${articles[a]} $((RANDOM % 6 + 1)) ${articles[b]} $((RANDOM % 6 + 1))"
    if [ $((i % 4)) = 2 ]; then echo "b$i CANCEL r$i"; else echo "b$i SHIP r$i"; fi
done >"$dir/requests"

serve() { "$RF_BUILD/examples/inventory" "redis+unix://$dir/redis.sock" "$dir/packer"; }
asked() { serve <<<"$1" 2>/dev/null; }
# Two of the services are given the same half, two the other.
start() {
    awk -v half=$(($1 % 2)) 'int((NR - 1) / 2) % 2 == half' "$dir/requests" >"$dir/requests.$1"
    PGAPPNAME="inventory $1" "$RF_BUILD/examples/inventory" \
        "redis+unix://$dir/redis.sock" "$dir/packer" <"$dir/requests.$1" \
        >>"$dir/answers.$1" 2>>"$dir/told.$1" &
    service[$1]=$!
}
until_true() {
    local i
    for ((i = 0; i < 1500; i++)); do
        "$@" && return 0
        sleep 0.02
    done
    tail "$dir"/told.* "$dir"/answers.*
    return 1
}
# The service that is stopped, when one is.
find_stopped() {
    local i
    for i in "${!service[@]}"; do
        grep -q '^State:.T' "/proc/${service[i]}/status" 2>/dev/null && late=$i && return
    done
    return 1
}
made() { [ -e "$dir/made.$1" ]; }
is_answered() { grep -q "^$1 " "$dir"/answers.*; }
ended() { ! kill -0 "$(cat "$dir/hanging")" 2>/dev/null; }
cut_connections() {
    query -o /dev/null -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name LIKE 'inventory %'"
}
# Numbers whose requests of that letter were told to be done.
told_done() { cat "$dir"/answers.* | sed -n "s/^$1\([0-9]*\) done$/r\1/p" | sort -u; }
finals() { grep ' \(done\|short\|none\)$' "$dir/answers.$1" | cut -d ' ' -f 1 | sort -u | wc -l; }

plan 19
ok "the tables are created" query -o /dev/null -f "$RF_ROOT/examples/inventory/schema.sql"
is "goods that are announced twice are there once" \
    "$(cat "$dir/deliveries" "$dir/deliveries" | serve | cut -d ' ' -f 2 | sort | uniq -c |
        sed 's/^ *//') $(query -c 'SELECT sum(free) FROM stock')" "8 done 200"

for i in 0 1 2 3; do start $i; done
late=
until_true find_stopped
ok "one is stopped in the middle of a section" test -n "$late"
ok "another does its work meanwhile" until_true is_answered b3
redis-cli -s "$dir/redis.sock" flushall >/dev/null
cut_connections
kill -CONT "${service[late]}"
ok "one is killed there" until_true made r8
ok "and one has a packer that never ends" until_true made r12
wait "${service[@]}" 2>/dev/null
for i in 0 1 2 3; do
    [ "$(finals $i)" = 40 ] && continue
    start $i
    wait "${service[i]}" 2>/dev/null
done
is "the one that was stopped was refused" \
    "$(grep -c '^b3: RF_\(LOST\|STALE\|COLLISION\) ' "$dir/told.$late")" 1
ok "the packer that hung was ended" ended
is "every request has an answer from each who asked" \
    "$(for i in 0 1 2 3; do finals $i; done | xargs)" "40 40 40 40"
is "what was told to be reserved is there, and nothing else" "$(told_done a)" \
    "$(query -c 'SELECT DISTINCT number FROM reservation' | sort)"
is "what was told to be gone is gone, and nothing else" "$(told_done b)" \
    "$(query -c "SELECT DISTINCT number FROM reservation WHERE state <> 'reserved'" | sort)"
is "reservations are whole" "$(query -c 'SELECT count(*) FROM (SELECT number
    FROM reservation GROUP BY 1 HAVING count(*) <> 2 OR min(state) <> max(state)) AS t')" 0
ok "stock ran short" grep -q ' short$' "$dir"/answers.0 "$dir"/answers.1
is "and was never negative" "$(query -c 'SELECT count(*) FROM stock
    WHERE free < 0 OR reserved < 0')" 0
is "counted, no update is lost" "$(query -c "
    SELECT s.sku, free, reserved FROM stock s JOIN reservation r USING (sku) GROUP BY s.sku
    HAVING free <> 50 - coalesce(sum(count) FILTER (WHERE state <> 'cancelled'), 0)
    OR reserved <> coalesce(sum(count) FILTER (WHERE state = 'reserved'), 0)")" ""

asked 'd-fig RECEIVE d-fig fig 1' >/dev/null
is "there is too little, or nothing of the kind" \
    "$(asked 'x1 RESERVE two fig 2') $(asked 'x2 SHIP two')" "x1 short x2 none"
is "who refuses to pack may be asked again" "$(asked 'x3 RESERVE fig fig 1'
    asked 'x4 SHIP fig'
    asked 'x4 SHIP fig')" $'x3 done\nx4 later RF_REFUSED\nx4 done'
is "what is no request is not served" "$(asked 'x5 RESERVE fig' | cut -c 1-8)" "? failed"
redis_stop "$dir"
is "without locks it says so" "$(asked 'x6 RECEIVE d6 fig 1')" "x6 later RF_REFUSED"
