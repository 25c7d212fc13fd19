#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# docs/c-reference.md is what client/reference makes of the headers; every
# function has its section there, with text and outcomes.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
cd "$RF_ROOT" || exit 1
page=docs/c-reference.md
headers=(client/ringfence.h client/ringfence_pg.h client/ringfence_async.h)

# Every prototype in the headers begins with its type in the first column.
functions() { sed -n "s/^$1.*[ *]\(rf_[a-z0-9_]*\)(.*/\1/p" "${headers[@]}" | sort; }
section() {
    awk -v name="#### $1" '$0 == name { on = 1; next } /^##/ { on = 0 } on' "$page"
}
# Its text: what is neither code nor a mark.
prose() { section "$1" | awk '/^```/ { code = !code; next } !code && !/^<!--/'; }
without_section() {
    functions '[a-z]' | while read -r name; do
        [ "$(grep -c "^#### $name$" $page)" = 1 ] || echo "$name"
    done
}
without_text() {
    functions '[a-z]' | while read -r name; do
        [ "$(prose "$name" | wc -w)" -ge 2 ] || echo "$name"
    done
}
# rf_pg_status() is itself the table of outcomes.
without_outcomes() {
    functions rf_status | grep -vx rf_pg_status | while read -r name; do
        prose "$name" | grep -q '^\*\*Returns\*\*' || echo "$name"
    done
}
same() { client/reference "${headers[@]}" | diff "$page" - && return; echo "make reference"; return 1; }
changed() {
    sed 's/^ \* Take the lock on resource/ * Take a lock on resource/' client/ringfence.h \
        >"$TMPDIR/ringfence.h"
    ! client/reference "$TMPDIR/ringfence.h" "${headers[@]:1}" |
        sed "s|$TMPDIR/|client/|" | diff -q "$page" - >/dev/null
}

plan 6
ok "the page is up to date" same
ok "and would not be if a comment were another" changed
ok "there are functions" test "$(functions '[a-z]' | wc -l)" -ge 40
is "each has its section" "$(without_section)" ""
is "with text" "$(without_text)" ""
is "and with its outcomes" "$(without_outcomes)" ""
