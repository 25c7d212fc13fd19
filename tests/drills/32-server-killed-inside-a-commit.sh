# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the server is killed while a commit is on its way: one has been written down and not yet acknowledged, one has not been written.
# Holds: the holders are told "unknown" or "nothing landed", never "refused" of what is there; each operation is there once in the end, none that was acknowledged is missing.
# Seen: the operations in the log of changes, against what each was told; what the receipts told.
# Weakened: gloomy
once() { [ "$(sql "SELECT count(*) FROM work WHERE op LIKE '$1-%'")" = 1 ]; }
drill() {
    server_copy p
    worker warm ttl=2000
    until_over "$warm"
    worker missing item=b ttl=1000 sections=5 want=1 stop=write
    until_stopped "$missing"
    worker landed ttl=1000 sections=5 want=1 stop=write
    until_stopped "$landed"
    # A commit is written down, and waits for a standby that never comes.
    commits_wait_for nobody
    go_on "$landed"
    await 20 "it is committed and not acknowledged" commit_waits
    server_kill p
    go_on "$missing"
    sed -i '/synchronous_standby_names/d' "$dir/p/data/postgresql.auto.conf"
    server_run p
    until_over "$landed"
    until_over "$missing"
    must "what was written is there once" once landed
    must "what was not is there once" once missing
    if [ "$mode" = guarded ]; then
        must "the first is told that it had landed" \
            logged $'landed\tresolved\t.*\tRF_OK\t1'
    fi
    redis del "$lock_key"
    alive
}
