# shellcheck shell=bash disable=SC2154,SC2034
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# sentinel.sh - three sentinels that watch a master and its replica (to be
# sourced, with replica.sh)

sentinel_config() {
    cat <<CONF
port $2
bind 127.0.0.1
dir $1
unixsocket $1/redis.sock
sentinel monitor main 127.0.0.1 $master_port 2
sentinel down-after-milliseconds main 600
sentinel failover-timeout main 5000
CONF
}

# A sentinel reads its settings from a file, and writes them back.
sentinel_try() {
    local at=$1
    redis_stop "$at"
    sentinel_config "$at" "$2" >"$at/sentinel.conf"
    setpriv --pdeathsig KILL -- redis-server "$at/sentinel.conf" --sentinel \
        >>"$at/redis.log" 2>&1 &
    echo $! >"$at/redis.pid"
    redis_wait "$at" 2>/dev/null
}

sentinel_start() {
    local at=$dir/$1 i
    mkdir "$at"
    for ((i = 0; i < 50; i++)); do
        port=$((20000 + (RANDOM * 7 + $$) % 30000))
        sentinel_try "$at" "$port" && return
    done
    fail "no port for a sentinel"
}

# Each knows the replica and the two others.
sentinels_are_ready() {
    local name said
    for name in s1 s2 s3; do
        said=$(redis-cli -s "$dir/$name/redis.sock" sentinel master main |
            tr '\n' ' ')
        [[ $said == *'num-slaves 1 num-other-sentinels 2 '* ]] || return 1
    done
}

# Sets url to where the locks are, whoever is the master.
sentinels_start() {
    local name ports=
    for name in s1 s2 s3; do
        sentinel_start $name
        ports=$ports,127.0.0.1:$port
    done
    url=redis+sentinel://${ports#,}/main
    await 30 "the sentinels know each other" sentinels_are_ready
}

sentinels_stop() {
    local name
    for name in s1 s2 s3; do
        redis_stop "$dir/$name"
    done
}
