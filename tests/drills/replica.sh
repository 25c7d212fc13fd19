# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# replica.sh - Redis servers that talk to each other (to be sourced)

# redis_on_port DIR [ARG...]: servers find each other by TCP; sets port to one
# that is free, found by trying.
redis_on_port() {
    local at=$1 i
    shift
    for ((i = 0; i < 50; i++)); do
        port=$((20000 + (RANDOM * 7 + $$) % 30000))
        redis_stop "$at"
        redis_start "$at" --port $port --bind 127.0.0.1 "$@" 2>/dev/null &&
            return 0
    done
    fail "no port for Redis"
}

# A second Redis in $dir/r that follows the first.
replica_start() {
    redis_on_port "$dir" --repl-diskless-sync-delay 0
    master_port=$port
    mkdir "$dir/r"
    redis_on_port "$dir/r" --replicaof 127.0.0.1 "$master_port"
    await 20 "the replica follows" replica_is_up
}

replica() { redis-cli -s "$dir/r/redis.sock" "$@"; }
replica_is_up() { replica info replication | grep -q 'master_link_status:up'; }
replica_is_down() {
    replica info replication | grep -q 'master_link_status:down'
}
replica_has() { [ "$(replica get "$lock_key:fence")" = "$1" ]; }
until_replica_has() { await 20 "the replica has $1" replica_has "$1"; }

# It follows a master that does not exist, and keeps what it has.
replica_cut() {
    happens "the replica is cut off"
    replica replicaof 127.0.0.1 1
    await 20 "the link is cut" replica_is_down
}

replica_promote() {
    happens "the replica becomes a master"
    replica replicaof no one
}
