# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: many clients share one session of the database through PgBouncer; a holder has just used it, and the next one who gets it brings no grant at all, or an old one.
# Holds: a claim ends with its transaction: nobody inherits it.
# Seen: the operations in the log of changes.
# shellcheck source=tests/lib/pgbouncer.sh
. "$RF_ROOT/tests/lib/pgbouncer.sh"
pooled() { PGHOST=$dir/pool PGPORT=6432 "$@"; }
refused() {
    pooled psql -X -q -A -t -v VERBOSITY=sqlstate -c "$1" 2>&1 |
        grep -qE 'RF00[136]'
}
stray="INSERT INTO work VALUES ('stray', 'a', 'nothing', 1, 'stray')"
drill() {
    mkdir "$dir/pool"
    [ "$mode" = guarded ] || token_in_the_session
    pooler_start "$dir/pool" || fail "no PgBouncer"
    pooled worker first ttl=20000 stop=write
    until_stopped "$first"
    redis del "$lock_key"
    pooled worker second ttl=20000
    until_over "$second"
    must "the next one works" logged $'second\ttold.*\tdone\t'
    must "without a grant nothing is written" refused "$stray"
    go_on "$first"
    until_over "$first"
    pooled alive
    pooler_stop "$dir/pool"
}
# What is often done: the guard leaves its word in the session, and a trigger
# asks for it.
token_in_the_session() {
    sql "CREATE OR REPLACE FUNCTION ringfence.guard(resource text,
             fence bigint, holder text DEFAULT NULL,
             lease interval DEFAULT NULL, preempt boolean DEFAULT false)
         RETURNS boolean LANGUAGE sql AS
         \$\$ SELECT set_config('app.claim', \$1, false) = \$1 \$\$;
         CREATE FUNCTION ask_session() RETURNS trigger LANGUAGE plpgsql AS
         \$\$ BEGIN
             IF current_setting('app.claim', true)
                IS DISTINCT FROM NEW.resource THEN
                 RAISE 'not claimed' USING ERRCODE = 'RF006';
             END IF;
             RETURN NEW;
         END \$\$;
         CREATE TRIGGER asks BEFORE INSERT ON work
         FOR EACH ROW EXECUTE FUNCTION ask_session()"
}
