#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# isolation.sh FILE.spec: run PostgreSQL's isolationtester, compare with
# FILE.out, print TAP.  The difference is the diagnostic.  FILE.before15.out
# is for older servers than PostgreSQL 15, and so on.  A spec whose header says
# "# A server of its own:" is played where no other file has transactions.
set -u

spec=$RF_ROOT/$1

server_of_its_own() {
    # shellcheck source=tests/lib/postgres.sh
    . "$RF_ROOT/tests/lib/postgres.sh"
    own=$(mktemp -d /tmp/rf.XXXXXX)
    trap 'pg_stop "$own"; rm -rf "$own"' EXIT
    pg_start "$own" "shared_preload_libraries = 'ringfence'" \
        "autovacuum = off" || exit 1
    export PGDATABASE=postgres
    psql -X -q -c 'CREATE EXTENSION ringfence'
}
! grep -q '^# A server of its own:' "$spec" || server_of_its_own

want=${spec%.spec}.out
for older in "${spec%.spec}".before[0-9][0-9].out; do
    version=${older%.out}
    [ -f "$older" ] &&
        [ "$(psql -X -A -t -c 'SHOW server_version_num')" -lt \
            "${version##*before}0000" ] && want=$older
done
got=$TMPDIR/got
tester=$(dirname "$($PG_CONFIG --pgxs)")/../test/isolation/isolationtester

echo 1..1
"$tester" "dbname=$PGDATABASE" <"$spec" >"$got" 2>&1
status=$?
if [ $status = 0 ] && diff -u "$want" "$got" >"$TMPDIR/diff" 2>&1; then
    echo "ok 1 - $1"
    exit 0
fi
echo "not ok 1 - $1 (exit status $status)"
if [ -f "$want" ]; then
    sed 's/^/# /' "$TMPDIR/diff"
else
    sed 's/^/# /' "$got"
    echo "# ${1%.spec}.out does not exist: this is what came out"
fi
exit 1
