#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# docs/guarantee.md has a line for each case; every test that it names exists,
# every statement names one, and every test that says which case it shows is named
# in that line.
set -u
. "$RF_ROOT/tests/lib/tap.sh"
cd "$RF_ROOT" || exit 1
page=docs/guarantee.md

# statements FROM TO: of the lists between two headings, one line for each,
# wrapped lines joined.
statements() {
    sed -n "/^## $1/,/^## $2/p" $page | awk '
        /^([0-9]+\.|-) / { if (text) print text; text = $0; next }
        /^ +[^ ]/ { sub(/^ +/, " "); text = text $0; next }
        { if (text) print text; text = "" }'
}

cases() { statements 'The ways around' 'Who can'; }

# Names of tests in a text: numbers, and names with an ending.
tick=$'\x60'
names() {
    grep -oE "$tick([0-9][0-9]|[a-z_/]*\\.(spec|sh|c))$tick" | tr -d "$tick" |
        sort -u
}

file_of() {
    case $1 in
        tests/*) echo "$1" ;;
        *.c) echo "tests/client/$1" ;;
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

# unproven: statements on standard input that name no test, nor say so.
unproven() {
    while read -r line; do
        [ -n "$(names <<<"$line")" ] ||
            grep -q 'not shown by a test yet' <<<"$line" || echo "$line"
    done
}

plan 6
is "there is one line for each of the 53 cases, in order" \
    "$(cases | cut -d. -f1 | tr '\n' ' ')" "$(seq -s ' ' 1 53) "
is "every test that the page names exists" "$(missing_files)" ""
is "every test that says its case is named there" "$(missing_names)" ""
is "a line without a test says so" "$(cases | unproven)" ""
is "so does a statement of the core" \
    "$(statements 'The core' 'What the client' | unproven)" ""
is "and one about the client" \
    "$(statements 'What the client' 'The ways around' | unproven)" ""
