#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# What was refused before a dump is refused after it has been restored.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

plan 12

copy=${PGDATABASE}_copy
trap 'ask "DROP DATABASE IF EXISTS $copy" >/dev/null' EXIT
new_copy() { ask "DROP DATABASE IF EXISTS $copy" >/dev/null; ask "CREATE DATABASE $copy TEMPLATE template0" >/dev/null; }
in_copy() { PGDATABASE=$copy ask "$1"; }

ask "SELECT ringfence.guard('r', 5, 'a'), ringfence.guard('n', 3);
    SELECT ringfence.guard('r', 5, 'a'), ringfence.once('r', 'op');
    SELECT ringfence.guard('old', 2, 'a')" >/dev/null
ask "UPDATE ringfence.registry SET claimed_at = now() - interval '1 day' WHERE resource = 'old';
    SELECT ringfence.retire('1 hour')" >/dev/null

check() {
    is "$1: the newest passes" "$(in_copy "SELECT ringfence.guard('r', 5, 'a')")" t
    is "$1: an older one is stale" "$(in_copy "SELECT ringfence.guard('r', 4, 'a')")" "ERROR:  RF001"
    is "$1: another's is refused" "$(in_copy "SELECT ringfence.guard('n', 3, 'a')")" "ERROR:  RF002"
    is "$1: what was applied stays applied" \
        "$(in_copy "SELECT ringfence.guard('r', 5, 'a'); SELECT ringfence.once('r', 'op')" | tail -n 1)" f
    is "$1: the floor holds" "$(in_copy "SELECT ringfence.guard('old', 2, 'a')")" "ERROR:  RF002"
}

new_copy
ok "dumped and restored" bash -c "set -o pipefail
    pg_dump -Fc '$PGDATABASE' | pg_restore --exit-on-error -d '$copy'"
check "full"

new_copy
in_copy "CREATE EXTENSION ringfence; CREATE EXTENSION pgtap" >/dev/null
ok "data alone, into a database that has the extension" bash -c "set -o pipefail
    pg_dump -Fc --data-only '$PGDATABASE' | pg_restore --exit-on-error -d '$copy'"
check "data"
