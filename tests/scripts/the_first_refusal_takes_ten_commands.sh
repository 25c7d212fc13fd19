#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# What the README has a newcomer do, up to the first stale write that is
# refused: a clone, its folder, make try, and then the README's own SQL.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
cd "$TMPDIR" || exit 1

# shellcheck disable=SC2016 # backquotes of Markdown
# The SQL of the README from the top, to the end of the first refusal.
sed -n '/^<!-- test: refused RF001/q; /^```sql/,/^```$/p' "$RF_ROOT/README.md" >before
sed -n '/^<!-- test: refused RF001/,/^```$/p' "$RF_ROOT/README.md" >refused
grep -hv -e '^```' -e '^<!--' before refused >first.sql
sql_in() { sed 's/--.*//' "$1" | grep -o ';' | wc -l; }

try() { make -s -C "$RF_ROOT" try T= SANITIZE= COVERAGE= VALGRIND= V=; }
# shellcheck disable=SC2016 # for psql's shell
{
    cat first.sql
    echo '\! echo "$PGHOST"; ringfence list'
} | env -u MAKEFLAGS -u MAKELEVEL bash -c "$(declare -f try); try" >out 2>err
code=$?
socket=$(grep '^/tmp/rf' out)
gone() { [ -n "$socket" ] && [ ! -e "${socket%/pg/socket}" ]; }

plan 6
is "it ends well" "$code" 0
is "git clone, cd, make try, and as many statements: ten at most" \
    "$(($(sql_in first.sql) + 3 <= 10))" 1
is "the last one is refused, and no other" "$(grep -c '^ERROR' err) $(grep '^ERROR' err)" \
    "1 ERROR:  fence is stale"
is "all before it were done" "$(sed 's/ *--.*//' before | grep -c '^[A-Z].*;$')" \
    "$(grep -c -e '^CREATE' -e '^INSERT' -e '^(1 row)' out)"
ok "the command has its Redis there" grep -q '^RESOURCE' out
ok "nothing is left" gone
