#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# A script with a server, a standby whose walreceiver it has stopped, and a Redis
# is killed where it can clean up nothing; another stops such a standby by itself.
# Neither leaves a process.
# Not under SANITIZE: nothing in it is ours to sanitize.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/lib/postgres.sh
. "$RF_ROOT/tests/lib/postgres.sh"

dir=$(mktemp -d /tmp/rf.XXXXXX)
chmod 755 "$dir"
trap 'kill -KILL "$script" 2>/dev/null; rm -rf "$dir"' EXIT

cat >"$dir/script" <<'SCRIPT'
. "$RF_ROOT/tests/lib/postgres.sh"
. "$RF_ROOT/tests/lib/redis.sh"
mkdir "$1/p" "$1/r" "$1/first" "$1/second"
pg_start "$1/p" && redis_start "$1/r" || exit 1
for standby in first second; do
    PGHOST=$1/p/socket
    pg_standby "$1/p" "$1/$standby" || exit 1
    receiver=$(psql -X -q -A -t -d postgres -c "SELECT pid FROM
        pg_stat_activity WHERE backend_type = 'walreceiver'")
    kill -STOP "$receiver"
    echo "$receiver" >"$1/receiver.$standby"
done
pg_stop "$1/first"
cat "$1"/*/*.pid >"$1/all" && mv "$1/all" "$1/ready"
read -r _ <"$1/for_ever"
SCRIPT
mkfifo "$dir/for_ever"
bash "$dir/script" "$dir" >"$dir/said" 2>&1 &
script=$!

until_true() {
    local end=$((SECONDS + 60))
    until "$@" 2>/dev/null; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}
# Where nobody reaps orphans, as in many containers, they stay as zombies.
is_gone() {
    ! kill -0 "$1" 2>/dev/null || [ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat")" = Z ]
}

plan 6
ok "the servers run" until_true test -f "$dir/ready"
ok "a standby that is stopped takes a stopped process with it" \
    until_true is_gone "$(cat "$dir/receiver.first")"

kill -KILL "$script"
wait "$script" 2>/dev/null
n=0
for pid in $(cat "$dir/ready") "$(cat "$dir/receiver.second")"; do
    ok "process $((++n)) of a killed script ends" until_true is_gone "$pid"
done
