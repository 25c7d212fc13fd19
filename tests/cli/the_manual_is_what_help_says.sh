#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# docs/cli.md has the exit codes that --help has, and speaks of every command
# and every option.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"
manual=$RF_ROOT/docs/cli.md

# Table rows of the manual as --help shows them.
documented() {
    sed -n '/^## Exit codes/,$p' "$manual" | grep -E '^\| [0-9o]' |
        tr -d '|`' | xargs -n 1000 -d '\n' printf '%s\n' |
        sed 's/  */ /g; s/^ //; s/ $//'
}
shown() {
    ringfence --help | sed -n '/^Exit codes/,/^$/p' | grep '^  ' |
        sed 's/  */ /g; s/^ //; s/ $//'
}
commands() {
    ringfence --help | sed -n '/^Commands/,/^$/p' | sed -n 's/^  \([a-z-]*\) .*/\1/p'
}
options() {
    for command in $(commands); do ringfence "$command" --help; done |
        sed -n 's/^  \(--[a-z-]*\).*/\1/p' | sort -u
}
missing() { while read -r word; do grep -qF -- "$word" "$manual" || echo "$word"; done; }
too_wide() {
    for command in "" $(commands); do
        # shellcheck disable=SC2086
        ringfence $command --help
    done | awk 'length > 79'
}

plan 5
is "the exit codes are those of --help" "$(documented)" "$(shown)"
ok "there are commands" test "$(commands | wc -l)" -ge 6
is "every command is in the manual" "$(commands | sed 's/^/ringfence /' | missing)" ""
is "every option is" "$(options | grep -v -e --help | missing)" ""
is "help fits on a terminal" "$(too_wide)" ""
