# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# etcd.sh - a throwaway etcd of one member (to be sourced)
#
#   etcd_start DIR [ARG...]  start one in DIR, which must exist, with further
#                            options; sets etcd_url
#                            etcd_scheme=https when they make it speak TLS;
#                            what is in the array etcd_curl is shown to it then
#   etcd_stop DIR            end it by pid; DIR/data stays

etcd_scheme=http
etcd_curl=()

# The server goes should this shell die without having stopped it.
etcd_launch() {
    local dir=$1 client=$etcd_scheme://127.0.0.1:$2 peer=http://127.0.0.1:$3
    shift 3
    setpriv --pdeathsig KILL -- etcd --name one --data-dir "$dir/data" --log-level error \
        --listen-client-urls "$client" --advertise-client-urls "$client" \
        --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" \
        --initial-cluster "one=$peer" "$@" >>"$dir/etcd.log" 2>&1 &
    echo $! >"$dir/etcd.pid"
}

# etcd_ask PATH BODY: what the JSON gateway says.
etcd_ask() {
    curl -s -k "${etcd_curl[@]}" --max-time 5 "$etcd_scheme://${etcd_url#etcd://}$1" -d "$2"
}

# A port is free until somebody else takes it: then another.
etcd_start() {
    local dir=$1 port i tries
    shift
    for ((tries = 0; tries < 5; tries++)); do
        port=$((20000 + RANDOM % 20000))
        etcd_url=etcd://127.0.0.1:$port
        etcd_launch "$dir" "$port" $((port + 1)) "$@"
        for ((i = 0; i < 600; i++)); do
            etcd_ask /v3/kv/range '{"key":"eA=="}' | grep -q revision && return 0
            kill -0 "$(cat "$dir/etcd.pid")" 2>/dev/null || break
            sleep 0.05
        done
        etcd_stop "$dir"
        rm -rf "$dir/data"
    done
    echo "etcd did not start:" >&2
    cat "$dir/etcd.log" >&2
    return 1
}

etcd_stop() {
    local pid
    [ -f "$1/etcd.pid" ] || return 0
    pid=$(cat "$1/etcd.pid")
    rm -f "$1/etcd.pid"
    kill -KILL "$pid" 2>/dev/null || return 0
    wait "$pid" 2>/dev/null || true
}
