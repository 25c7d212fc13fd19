# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: in a cluster the slot of a lock moves to another node while a holder is at work; another slot is handed over without what was in it.
# Holds: the holder keeps its lock and the numbers go on; where they begin anew, they are raised before anybody works under them.
# Seen: the counter on the new node; one holder for every number in the log of changes.
# Weakened: lower
# Overlap: yes
# shellcheck source=tests/drills/replica.sh
. "$RF_ROOT/tests/drills/replica.sh"
node() { redis-cli -s "$dir/${1#0}/redis.sock" "${@:2}"; }
node_is_well() { node "$1" cluster info | grep -q cluster_state:ok; }
both_are_well() { node_is_well 0 && node_is_well r; }
cluster_start() {
    redis_on_port "$dir" --cluster-enabled yes
    port_0=$port
    mkdir "$dir/r"
    redis_on_port "$dir/r" --cluster-enabled yes
    port_r=$port
    node 0 cluster set-config-epoch 1
    node r cluster set-config-epoch 2
    node 0 cluster addslotsrange 0 8191
    node r cluster addslotsrange 8192 16383
    node 0 cluster meet 127.0.0.1 "$port_r"
    await 30 "the cluster is well" both_are_well
}
# The slot of an item, the node that has it, and the other one.
find_slot() {
    slot=$(node 0 cluster keyslot "{lock:v1:$1}")
    from=0 to=r to_port=$port_r
    [ "$slot" -lt 8192 ] || from=r to=0 to_port=$port_0
}
hand_over() {
    node "$to" cluster setslot "$slot" node "$(node "$to" cluster myid)"
    node "$from" cluster setslot "$slot" node "$(node "$to" cluster myid)"
    await 30 "the cluster is well" both_are_well
}
migrate() { node "$from" migrate 127.0.0.1 "$to_port" "$1" 0 5000; }
drill() {
    local url
    cluster_start
    url=redis+cluster://127.0.0.1:$port_0,127.0.0.1:$port_r
    find_slot b
    worker before url="$url" item=b ttl=20000
    until_over "$before"
    worker moved url="$url" item=b ttl=20000 renew=1 rounds=2 stop=write
    until_stopped "$moved"
    happens "the slot moves, the counter first"
    node "$to" cluster setslot "$slot" importing "$(node "$from" cluster myid)"
    node "$from" cluster setslot "$slot" migrating "$(node "$to" cluster myid)"
    migrate '{lock:v1:b}:fence'
    worker between url="$url" item=b ttl=20000 timeout=300
    until_over "$between"
    must "nobody else is granted it" \
        test "$(grep -c $'between\tgranted' "$dir/log")" = 0
    migrate '{lock:v1:b}'
    hand_over
    go_on "$moved"
    until_over "$moved"
    must "the holder goes on" \
        test "$(grep -cP $'moved\t(told.*\tdone|renew\tRF_OK)' "$dir/log")" = 4
    worker after_it url="$url" item=b ttl=20000
    until_over "$after_it"
    must "the numbers go on" \
        test "$(node "$to" get '{lock:v1:b}:fence')" = 3
    lose_a_slot
    alive url="$url"
    redis_stop "$dir/r"
}
lose_a_slot() {
    find_slot a
    worker first url="$url" ttl=20000 stop=write
    until_stopped "$first"
    happens "a slot is handed over without its keys"
    node "$from" del "$lock_key" "$lock_key:fence"
    hand_over
    worker second url="$url" ttl=20000
    until_over "$second"
    must "the next one works" logged $'second\ttold.*\tdone\t'
    go_on "$first"
    until_over "$first"
}
