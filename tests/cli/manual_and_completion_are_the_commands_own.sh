#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# The manual pages have what --help has, in its words, and bash completes the
# commands, their options and the resources that are held.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"

commands() {
    ringfence --help | sed -n '/^Commands/,/^$/s/^  \([a-z-]*\) .*/\1/p'
}
page() { groff -man -Tascii -P-cbou -rLL=1000n -rHY=0 "$1"; }
# A text without line ends and runs of blanks.
flat() { tr -s ' \n' ' ' | sed 's/\xe2\x80\x90/-/g'; }
warnings() { groff -man -Tascii -ww -z "$RF_BUILD"/man/*.1; }
# missing COMMAND: sentences of --help that the page does not have.
missing() {
    local text sentence
    text=$(page "$RF_BUILD/man/ringfence-$1.1" | flat)
    ringfence "$1" --help | sed -n '3,/^Options/p' | sed '$d' | flat |
        sed 's/\. /.\n/g' | while read -r sentence; do
        grep -qF -- "${sentence% }" <<<"$text" || echo "$1: $sentence"
    done
    ringfence "$1" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' |
        while read -r option; do
            grep -q -- "$option" <<<"$text" || echo "$1: $option"
        done
}

made_anew() {
    local c
    ringfence --man | cmp - "$RF_BUILD/man/ringfence.1"
    for c in $(commands); do
        ringfence --man "$c" | cmp - "$RF_BUILD/man/ringfence-$c.1"
    done
    ringfence --completion | cmp - "$RF_BUILD/completion/ringfence"
}

plan 18

is "every command has its page" \
    "$(cd "$RF_BUILD/man" && ls ringfence-*.1)" \
    "$(commands | sort | sed 's/.*/ringfence-&.1/')"
is "pages and completion are what the command tells" "$(made_anew 2>&1)" ""
is "groff has nothing to complain of" "$(warnings 2>&1)" ""
is "the pages say what --help says" \
    "$(for c in $(commands); do missing "$c"; done)" ""
is "ringfence(1) has the exit codes" \
    "$(page "$RF_BUILD/man/ringfence.1" | grep -c 'RF_COLLISION')" 1
is "and the settings" \
    "$(page "$RF_BUILD/man/ringfence.1" | grep -c 'RINGFENCE_URL')" 1
is "109 for a page of nothing" "$(code ringfence --man nonsense)" 109

# ---- Completion ------------------------------------------------------------

# shellcheck source=/dev/null
. "$RF_BUILD/completion/ringfence"
# completes LINE: what bash would offer at its end; a colon is a word.
completes() {
    COMP_LINE=$1
    COMP_POINT=${#1}
    read -ra COMP_WORDS <<<"${1//:/ : }"
    [[ $1 != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _ringfence
    echo "${COMPREPLY[*]}"
}
is "commands" "$(completes 'ringfence re')" "renew release"
is "all of them" "$(completes 'ringfence ' | wc -w)" "$(($(commands | wc -l) + 2))"
is "options" "$(completes 'ringfence renew --t')" "--ttl --timeout"
is "only the command's own" "$(completes 'ringfence list --ttl')" ""
ringfence acquire job:nightly >/dev/null
ringfence acquire job:weekly >/dev/null
ringfence acquire other >/dev/null
ringfence acquire '$(touch hit)' >/dev/null
is "resources" "$(completes 'ringfence inspect o')" "other"
is "after a colon what follows it" "$(completes 'ringfence inspect job:')" "nightly weekly"
is "names are never run, but quoted" "$(completes 'ringfence inspect $')" '\$\(touch\ hit\)'
is "indeed" "$(ls hit 2>/dev/null)" ""
is "nothing where a value belongs" "$(completes 'ringfence run other --ttl ')" ""
is "commands after --" "$(completes 'ringfence run other -- bas' | grep -cw bash)" 1
is "nothing when nobody answers" \
    "$(RINGFENCE_URL=redis+unix:///nonexistent completes 'ringfence inspect o')" ""
