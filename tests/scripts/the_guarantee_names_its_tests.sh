#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# docs/guarantee.md has a line for each case; every test that it names exists,
# and every test that says which case it shows is named in that line.
set -u
. "$RF_ROOT/tests/lib/tap.sh"
cd "$RF_ROOT" || exit 1
page=docs/guarantee.md

# The statements of the second list: one line for each, wrapped lines joined.
cases() {
    sed -n '/^## The ways around/,/^## Who can/p' $page | awk '
        /^[0-9]+\. / { if (text) print text; text = $0; next }
        /^ +[^ ]/ { sub(/^ +/, " "); text = text $0; next }
        { if (text) print text; text = "" }'
}

# Names of tests in a text: numbers, and names with an ending.
tick=$'\x60'
names() {
    grep -oE "$tick([0-9][0-9]|[a-z_]*\\.(spec|sh))$tick" | tr -d "$tick" |
        sort -u
}

file_of() {
    case $1 in
        *.spec) echo "tests/isolation/$1" ;;
        *.sh) echo "tests/scripts/$1" ;;
        *) echo tests/sql/"$1"_*.sql ;;
    esac
}

# name_of FILE: as the page writes it.
name_of() {
    case $1 in
        tests/sql/*) basename "$1" | cut -c1-2 ;;
        *) basename "$1" ;;
    esac
}

missing_files() {
    names <$page | while read -r name; do
        [ -f "$(file_of "$name")" ] || echo "$name"
    done
}

# Files whose first lines say "case N", which the line of case N leaves out.
missing_names() {
    local file n
    grep -lE '^(--|#) case [0-9]' tests/sql/*.sql tests/isolation/*.spec \
        tests/scripts/*.sh | while read -r file; do
        for n in $(grep -E '^(--|#) case [0-9]' "$file" | head -n 1 |
            grep -o '[0-9]*'); do
            cases | grep "^$n\. " | names | grep -qxF "$(name_of "$file")" ||
                echo "case $n: $file"
        done
    done
}

unproven() {
    local n
    cases | while read -r line; do
        n=${line%%.*}
        [ -n "$(names <<<"$line")" ] ||
            grep -q 'not shown by a test yet' <<<"$line" || echo "$n"
    done
}

plan 4
is "there is one line for each of the 53 cases, in order" \
    "$(cases | cut -d. -f1 | tr '\n' ' ')" "$(seq -s ' ' 1 53) "
is "every test that the page names exists" "$(missing_files)" ""
is "every test that says its case is named there" "$(missing_names)" ""
is "a line without a test says so" "$(unproven)" ""
