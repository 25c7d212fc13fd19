#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Runs the runner over test files that go wrong in every way that has been
# thought of.  A runner that misses one would make all other tests worthless.
# Not under SANITIZE: its test files are scripts.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"

harness=$RF_ROOT/tests/lib/harness.pl
tree=$TMPDIR/tree
mkdir -p "$tree"/tests/{scripts,sql,isolation} "$TMPDIR/run"
ln -s "$RF_ROOT/tests/lib" "$tree/tests/lib"

# run PATTERN: the last line of the runner on the files that match, its status.
run() {
    local said status
    said=$(RF_ROOT=$tree RF_BUILD=$TMPDIR/build RF_TMP=$TMPDIR/run \
        RF_SERVER_LOG=${server_log:-/dev/null} RF_NAMES=${PGDATABASE}_ \
        RF_TIMEOUT=${limit:-60} T=$1 V='' SANITIZE=${sanitize:-} VALGRIND='' \
        perl "$harness" 2>&1)
    status=$?
    echo "${said##*$'\n'}, status $status"
}
is_gone() {
    local i
    for ((i = 0; i < 200; i++)); do
        kill -0 "$1" 2>/dev/null || return 0
        # Where nobody reaps orphans, as in many containers.
        ! grep -q '^State:.Z' "/proc/$1/status" || return 0
        sleep 0.05
    done
    kill -KILL "$1"
    return 1
}
script() { cat >"$tree/tests/scripts/$1.sh"; }
sql() { cat >"$tree/tests/sql/$1.sql"; }

script good <<<'echo 1..2; echo ok 1; echo ok 2'
script red <<<'echo 1..2; echo ok 1; echo not ok 2'
script dies <<<'echo 1..1; echo ok 1; exit 3'
script killed <<<'echo 1..1; echo ok 1; kill -SEGV $$'
script short <<<'echo 1..3; echo ok 1; echo ok 2'
script long <<<'echo 1..1; echo ok 1; echo ok 2'
script unplanned <<<'echo ok 1'
script silent <<<'exit 0'
script skips <<<'echo 1..2; echo ok 1; echo "ok 2 # SKIP no server"'
script skips_all <<<'echo "1..0 # SKIP no server"'
script bails <<<'echo 1..1; echo "Bail out! no server"'
script plain <<<$'# Not under SANITIZE: it reads.\necho 1..1; echo ok 1'
script hangs <<<'echo 1..1; echo ok 1; sleep 600'
script leaves <<SCRIPT
echo 1..1; echo ok 1
perl -MPOSIX -e 'if (!fork) {
        POSIX::setsid();
        open my \$out, ">", "$TMPDIR/stopped" or die;
        print \$out \$\$;
        close \$out;
        kill STOP => \$\$;
    }
    sleep 600' &
until [ -s "$TMPDIR/stopped" ]; do sleep 0.02; done
SCRIPT
sql good <<<'SELECT plan(1); SELECT pass(); SELECT * FROM finish();'
sql red <<<'SELECT plan(1); SELECT fail(); SELECT * FROM finish();'
sql error <<<'SELECT plan(1); SELECT pass(); SELECT 1 / 0;'
sql leaves <<<"SELECT plan(1); SELECT pass(); SELECT * FROM finish();
BEGIN; CREATE TABLE t (); PREPARE TRANSACTION 'left_behind';"
echo 'session s step a { SELECT 1; }' >"$tree/tests/isolation/unsaved.spec"
cp "$tree/tests/isolation/unsaved.spec" "$tree/tests/isolation/differs.spec"
echo 'something else' >"$tree/tests/isolation/differs.out"
echo 'PANIC:  the server is gone' >"$TMPDIR/panic.log"

bad_1='1 failed, status 1'
plan 24
is "all is well" "$(run scripts/good)" "2 passed, 0 failed, status 0"
is "an assertion fails" "$(run scripts/red)" "1 passed, $bad_1"
is "dies after its assertions" "$(run dies)" "1 passed, $bad_1"
is "is killed" "$(run killed)" "1 passed, $bad_1"
is "stops early" "$(run short)" "2 passed, $bad_1"
is "asserts more than it planned" "$(run long)" "2 passed, $bad_1"
is "has no plan" "$(run unplanned)" "1 passed, $bad_1"
is "asserts nothing" "$(run silent)" "0 passed, $bad_1"
is "skips one" "$(run 'skips\.')" "1 passed, $bad_1"
is "skips all" "$(run skips_all)" "0 passed, $bad_1"
is "bails out" "$(run bails)" "0 passed, $bad_1"
is "hangs" "$(limit=2 run hangs)" "1 passed, $bad_1"
is "leaves a server behind" "$(run scripts/leaves)" \
    "1 passed, 0 failed, status 0"
ok "of which nothing stays, not even what was stopped" \
    is_gone "$(cat "$TMPDIR/stopped")"
is "SQL: all is well" "$(run sql/good)" "1 passed, 0 failed, status 0"
is "SQL: an assertion fails" "$(run sql/red)" "0 passed, $bad_1"
is "SQL: an error" "$(run sql/error)" "1 passed, $bad_1"
is "SQL: leaves something behind" "$(run sql/leaves)" "1 passed, $bad_1"
psql -X -q -d "${PGDATABASE}_000" -c "ROLLBACK PREPARED 'left_behind'"
psql -X -q -c "DROP DATABASE ${PGDATABASE}_000"
is "isolation: no expected output" "$(run unsaved)" "0 passed, $bad_1"
is "isolation: another output" "$(run differs)" "0 passed, $bad_1"
is "the server crashed" "$(server_log=$TMPDIR/panic.log run scripts/good)" \
    "2 passed, $bad_1"
is "what has nothing to sanitize runs" "$(run scripts/plain)" \
    "1 passed, 0 failed, status 0"
is "but not under SANITIZE" "$(sanitize=1 run 'scripts/(plain|good)')" \
    "2 passed, 0 failed, status 0"
is "no file matches" "$(run nothing)" "No test file matches T=nothing, status 2"
