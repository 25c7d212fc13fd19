#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# docs/mistakes.md names a test for each mistake, and every test that it names
# exists and is run.
set -u
. "$RF_ROOT/tests/lib/tap.sh"
cd "$RF_ROOT" || exit 1
page=docs/mistakes.md

# The rows of all tables, without their heads.
rows() { grep '^| ' $page | grep -v '^| what went wrong\|^| ---'; }

# Names of tests in the last column.
tick=$'\x60'
names() {
    awk -F '|' '{ print $(NF - 1) }' | grep -oE "${tick}[^$tick]+$tick" |
        tr -d "$tick" | sort -u
}

# stands NAME: there is such a test. A function must stand in its file's list too.
stands() {
    local files
    case $1 in
        test_*)
            mapfile -t files < <(grep -lE "^static void $1\\(" tests/client/*.c)
            [ ${#files[@]} -gt 0 ] &&
                grep -hvE '^static void' "${files[@]}" |
                grep -qE "(^ +|\\()$1[,)]"
            ;;
        'drill '*) files=(tests/drills/"${1#drill }"-*.sh) && [ -f "${files[0]}" ] ;;
        tests/*) [ -f "$1" ] ;;
        *.spec) [ -f "tests/isolation/$1" ] ;;
        *.sh) [ -f "tests/scripts/$1" ] ;;
        *) files=(tests/sql/"$1"_*.sql) && [ -f "${files[0]}" ] ;;
    esac
}

missing() {
    rows | names | while read -r name; do
        stands "$name" || echo "$name"
    done
}

unproven() {
    rows | while read -r row; do
        [ -n "$(names <<<"$row")" ] || echo "$row"
    done
}

plan 3
is "there are mistakes to learn from" "$(($(rows | wc -l) > 60))" 1
is "each has a test" "$(unproven)" ""
is "every test that the page names exists and is run" "$(missing)" ""
