# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: connections break, and the name of the lock service leads to an address where nobody answers; later it leads back.
# Holds: every call ends within its limit, and those after the name is right again succeed, without a restart.
# Seen: what was told while the name led astray, and afterwards.
# Weakened: recipe
# shellcheck source=tests/drills/replica.sh
. "$RF_ROOT/tests/drills/replica.sh"
count() { grep -cP "$1" "$dir/log"; }
more() { [ "$(count "$1")" -gt "$2" ]; }
name_leads_to() {
    happens "the name leads to $1"
    echo "$1" >"$dir/address"
}
drill() {
    local limit=400 before
    [ "$mode" = guarded ] || limit=0 # hiredis has none unless it is told
    redis_on_port "$dir"
    mkdir "$dir/r"
    redis_start "$dir/r" --port "$port" --bind 127.0.0.2
    kill -STOP "$(cat "$dir/r/redis.pid")"
    name_leads_to 127.0.0.1
    LD_PRELOAD="$RF_BUILD/drills/resolver.so" RESOLVER_FILE="$dir/address" \
        worker one url="redis://locks.test:$port" ttl=500 timeout=$limit \
        sections=1000000 think=20
    await 20 "it works" more '\tone\ttold.*\tdone\t' 2
    name_leads_to 127.0.0.2
    redis client kill type normal
    must "calls end in time" in_time 3 more '\tone\tacquire\tRF_[^O]' 0
    name_leads_to 127.0.0.1
    before=$(count '\tone\ttold.*\tdone\t')
    must "it finds the way back" \
        in_time 3 more '\tone\ttold.*\tdone\t' "$before"
    kill -KILL "$one"
    redis_stop "$dir/r"
    redis del "$lock_key"
    alive
}
