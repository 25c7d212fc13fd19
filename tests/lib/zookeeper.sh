# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# zookeeper.sh - a throwaway ZooKeeper of one server (to be sourced)
#
#   zookeeper_start DIR [LINE...]
#                        start one in DIR, which must exist, with more lines of
#                        configuration; sets zookeeper_url
#   zookeeper_stop DIR   end it by pid; DIR/data stays

# The server goes should this shell die without having stopped it.
# Of two lines that say different things the last one counts.
zookeeper_launch() {
    local jars=/usr/share/java
    cat >"$1/zoo.cfg" <<END
tickTime=200
minSessionTimeout=400
maxSessionTimeout=40000
dataDir=$1/data
clientPort=$2
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=srvr
END
    printf '%s\n' "${@:3}" >>"$1/zoo.cfg"
    setpriv --pdeathsig KILL -- java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
        -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
        -cp $jars/zookeeper.jar:$jars/slf4j-simple.jar \
        org.apache.zookeeper.server.quorum.QuorumPeerMain "$1/zoo.cfg" >>"$1/log" 2>&1 &
    echo $! >"$1/pid"
}

# zookeeper_ask PORT WORD: what it answers to a four-letter word.
zookeeper_ask() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1" && printf %s "$2" >&3 && timeout 0.5 cat <&3) 2>/dev/null
}

# A port is free until somebody else takes it: then another.
zookeeper_start() {
    local port i tries
    for ((tries = 0; tries < 5; tries++)); do
        port=$((20000 + RANDOM % 20000))
        # Read by whoever sources this.
        # shellcheck disable=SC2034
        zookeeper_url=zookeeper://127.0.0.1:$port
        zookeeper_launch "$1" "$port" "${@:2}"
        for ((i = 0; i < 600; i++)); do
            zookeeper_ask "$port" srvr | grep -q '^Mode:' && return 0
            kill -0 "$(cat "$1/pid")" 2>/dev/null || break
            sleep 0.05
        done
        zookeeper_stop "$1"
        rm -rf "$1/data"
    done
    echo "ZooKeeper did not start:" >&2
    cat "$1/log" >&2
    return 1
}

zookeeper_stop() {
    local pid
    [ -f "$1/pid" ] || return 0
    pid=$(cat "$1/pid")
    rm -f "$1/pid"
    kill -KILL "$pid" 2>/dev/null || return 0
    wait "$pid" 2>/dev/null || true
}
