# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: a commit waits for the synchronous standby, which is gone; somebody cancels the wait; then the primary is lost and the standby takes over without that commit.
# Holds: the commit comes back with a WARNING, and whoever takes that for "unknown" has told nobody what is not so.
# Seen: what the holder was told, against the log of changes of the standby that took over.
# Weakened: rule
# Breaks: I4
drill() {
    local had careful=1
    [ "$mode" = guarded ] || careful=0
    server_copy p
    server_standby s
    worker before ttl=20000
    until_over "$before"
    worker first ttl=20000 stop=write careful=$careful
    until_stopped "$first"
    standby_cut s
    commits_wait_for s
    go_on "$first"
    await 20 "its commit waits" commit_waits
    happens "the wait for the standby is cancelled"
    cancel_commit
    until_over "$first"
    must "a WARNING is told" logged $'first\tnotice'
    history_keep
    had=$(standby_has s)
    server_kill p
    standby_promote s
    history_goes_on "$had"
    redis del "$lock_key"
    alive
}
