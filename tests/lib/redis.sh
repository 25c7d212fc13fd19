# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# redis.sh - a throwaway Redis on a Unix socket (to be sourced)
#
#   redis_start DIR [ARG...]  start one in DIR, which must exist; keeps nothing
#                             on disk unless an ARG says so.  The socket is
#                             DIR/redis.sock
#                             What is in the array redis_under runs it, such
#                             as strace -D
#   redis_stop DIR            end it by pid, without saving
#
# DIR must be short: a socket's path has 107 bytes.

redis_under=()

# The server goes should this shell die without having stopped it.
redis_start() {
    local dir=$1
    shift
    rm -f "$dir/redis.sock"
    setpriv --pdeathsig KILL -- "${redis_under[@]}" redis-server --port 0 --dir "$dir" \
        --unixsocket "$dir/redis.sock" --save '' --appendonly no \
        "$@" >>"$dir/redis.log" 2>&1 &
    echo $! >"$dir/redis.pid"
    redis_wait "$dir"
}

# redis_wait DIR: until it answers, at most ten seconds.
redis_wait() {
    local i pid
    pid=$(cat "$1/redis.pid")
    for ((i = 0; i < 500; i++)); do
        [ "$(redis-cli -s "$1/redis.sock" ping 2>/dev/null)" = PONG ] &&
            return 0
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.02
    done
    echo "Redis did not start:" >&2
    cat "$1/redis.log" >&2
    return 1
}

redis_stop() {
    local pid
    [ -f "$1/redis.pid" ] || return 0
    pid=$(cat "$1/redis.pid")
    rm -f "$1/redis.pid"
    kill -KILL "$pid" 2>/dev/null || return 0
    wait "$pid" 2>/dev/null || true
}
