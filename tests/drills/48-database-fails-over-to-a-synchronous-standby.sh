# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the synchronous standby takes over while a holder is in the middle of its section; the holder connects and sends its write again.
# Holds: nothing that was acknowledged is lost, the holder's claim among it, and so it goes on where it was.
# Seen: commit order in the log of changes, first of the old server as far as the new one has it, then of the new one.
# Weakened: rule
# Breaks: I7
drill() {
    local had
    server_copy p
    server_standby s
    if [ "$mode" = guarded ]; then
        commits_need s
    else
        standby_cut s # asynchronous, and nobody notices that it is gone
    fi
    worker first ttl=20000
    until_over "$first"
    failing_over p s worker second ttl=60000 style=transaction stop=inside \
        stubborn=1
    until_stopped "$second"
    [ "$mode" = weakened ] || await 20 "the standby has all" standby_has_all s
    history_keep
    had=$(standby_has s)
    server_kill p
    standby_promote s
    history_goes_on "$had"
    go_on "$second"
    until_over "$second"
    must "who was at work goes on" logged $'second\ttold.*\tdone\t'
    redis del "$lock_key"
    alive
}
