# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: the application has switched synchronous_commit off; the server is killed right after a claim was acknowledged.
# Holds: the claim is still there after recovery, and the old holder is refused.
# Seen: the registry after the crash.
# Weakened: lower
drill() {
    sql "ALTER SYSTEM SET wal_writer_delay = 10000"
    sql "SELECT pg_reload_conf()"
    sql "SELECT ringfence.guard('b', 7, 'old')"
    sql CHECKPOINT
    victim=$(sql "SELECT pid FROM pg_stat_activity
                  WHERE backend_type = 'checkpointer'")
    happens "PostgreSQL is killed after it acknowledged a claim"
    # All in one session: the kill follows the answer at once.
    psql -X -q <<<"SET synchronous_commit = off;
        SELECT ringfence.guard('b', 8, 'new');
        \\! kill -KILL $victim"
    await 60 "the server recovers" sql 'SELECT 1'
    must "the claim has survived" \
        test "$(sql "SELECT fence FROM ringfence.registry
                     WHERE resource = 'b'")" = 8
    sql "ALTER SYSTEM RESET wal_writer_delay"
    sql "SELECT pg_reload_conf()"
    alive
}
