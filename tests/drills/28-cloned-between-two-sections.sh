# shellcheck shell=bash disable=SC2154,SC2034
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: a machine is cloned, from a snapshot or by copying its memory: two processes go on from one state, and neither knows.
# Holds: each new acquisition has a holder of its own, drawn from the kernel; the clones exclude each other like strangers.
# Seen: one holder for every number, and no lost update, in the log of changes.
# Weakened: seeded
# Overlap: yes
pid_of_two() { awk -F'\t' '$2 == "one2" && $3 == "begins" { print $4 }' "$dir/log"; }
clone_is_stopped() { is_stopped "$(pid_of_two)"; }
stops() { [ "$(grep -c $'\t'"$1"$'\tstops\twrite' "$dir/log")" = "$2" ]; }
until_it_stops() { await 20 "$1 stops at its write" stops "$1" "$2"; }
drill() {
    local two
    worker one ttl=2000 wait=8000 sections=2 clone=1 stop=write
    until_stopped "$one"
    go_on "$one"
    await 20 "it is cloned" clone_is_stopped
    until_stopped "$one"
    two=$(pid_of_two)
    worker_names[two]=one2
    happens "the process is cloned"
    # What a clone wakes up with are connections that are broken.
    redis client kill type normal
    go_on "$one"
    until_it_stops one 2
    go_on "$two"
    until_it_stops one2 1
    until_stopped "$two"
    go_on "$two"
    await 20 "the clone ends" is_over "$two"
    until_stopped "$one"
    go_on "$one"
    until_over "$one"
    redis del "$lock_key"
    alive
}
