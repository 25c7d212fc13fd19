# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: Redis and the database are both restored from old copies; the number of a holder that sleeps in its section is issued and claimed again; then it connects, and sends its write again.
# Holds: the same number from another holder is refused, though the database that had accepted it is gone. What came after the copies is lost.
# Seen: one holder for every number in the log of changes, as far as the backup goes and then of the restored server.
# Weakened: lower
# Breaks: I2
# Loses: I4
# Redis: --dbfilename old.rdb
drill() {
    local had
    server_copy p
    worker before ttl=20000
    until_over "$before"
    redis save
    had=$(backup_taken b)
    worker since ttl=20000
    until_over "$since"
    failing_over p b worker first ttl=60000 style=transaction stop=inside \
        stubborn=1
    until_stopped "$first"
    history_keep
    server_kill p
    happens "Redis is killed, and starts from its old copy"
    redis_stop "$dir"
    redis_start "$dir" --dbfilename old.rdb
    server_run b
    history_goes_on "$had"
    worker again ttl=20000
    until_over "$again"
    # The number of the sleeper, under another holder.
    worker second ttl=20000
    until_over "$second"
    must "its number is issued again" same_number first second
    must "and whoever has it now works" logged $'second\ttold.*\tdone\t'
    go_on "$first"
    until_over "$first"
    [ "$mode" = weakened ] ||
        must "the sleeper is told so" logged $'first\ttold.*\tRF_COLLISION'
    alive
}
number_of() { awk -F'\t' -v who="$1" '$2 == who && $3 == "granted" { print $5 }' "$dir/log"; }
same_number() { [ "$(number_of "$1")" = "$(number_of "$2")" ]; }
