# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: under REPEATABLE READ a new holder's snapshot is older than its claim, so that it would read what was before the old holder's last write.
# Holds: it is sent back with 40001; its second try sees everything.
# Seen: what each operation had read, in the log of changes.
session() {
    psql -X -q -A -t -v ON_ERROR_STOP=1 >>"$dir/session.$1" 2>&1
}
add() {
    echo "INSERT INTO work SELECT '$1', 'a', newest, $2, '$3' FROM item WHERE name = 'a';"
}
waits_or_passed() {
    [ -s "$dir/passed" ] || [ "$(sql "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'")" = 1 ]
}
try() {
    session "$1" <<<"BEGIN ISOLATION LEVEL REPEATABLE READ;
        SELECT ringfence.guard('a', 2, 'new');
        \\! echo passed >$dir/passed
        \\! until [ -f $dir/go ]; do sleep 0.02; done
        $(add "new-$1" 2 new) COMMIT;"
}
drill() {
    mkfifo "$dir/old"
    session old <"$dir/old" &
    workers+=($!)
    exec 7>"$dir/old"
    echo "SELECT ringfence.guard('a', 1, 'old'); BEGIN;
          SELECT ringfence.guard('a', 1, 'old');
          $(add old-1 1 old) UPDATE item SET newest = 'old-1', fence = 1
          WHERE name = 'a';
          \\! touch $dir/old.wrote" >&7
    await 10 "the old holder writes" test -f "$dir/old.wrote"
    try first &
    new=$!
    await 10 "the new holder comes" waits_or_passed
    happens "the old holder commits, after the new one's snapshot"
    echo "COMMIT; \\! touch $dir/old.done" >&7
    exec 7>&-
    await 10 "the old holder commits" old_is_there
    touch "$dir/go"
    wait "$new" || try second
    grep -q 'could not serialize' "$dir/session.first" ||
        [ "$mode" = weakened ] || must "40001 was told" false
}
old_is_there() { [ "$(sql "SELECT count(*) FROM work WHERE op = 'old-1'")" = 1 ]; }
