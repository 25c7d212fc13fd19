# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the standby takes over and lacks the last claims and writes; a holder in the middle of its section connects and sends its write again.
# Holds: when locks have run out before the standby is opened for writes, nothing is built upon what it never had. What it lacks is lost: that takes a synchronous standby (48).
# Seen: commit order in the log of changes, first of the old server as far as the new one has it, then of the new one.
# Weakened: rule
# Breaks: I7
# Loses: I4
drill() {
    local had
    server_copy p
    server_standby s
    worker before ttl=20000
    until_over "$before"
    standby_cut s
    # What it reads and writes from here on, the standby never hears of.
    worker first ttl=20000
    until_over "$first"
    failing_over p s worker second ttl=3000 style=transaction stop=inside \
        stubborn=1
    until_stopped "$second"
    history_keep
    had=$(standby_has s)
    server_kill p
    # The rule of the manual.
    [ "$mode" = weakened ] || until_lock_is_gone
    standby_promote s
    history_goes_on "$had"
    go_on "$second"
    until_over "$second"
    [ "$mode" = weakened ] ||
        must "who was at work is told so" logged $'second\ttold.*\tRF_LOST'
    redis del "$lock_key"
    alive
}
