#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# ringfence inspect and list, for people and for scripts, with colour on a
# terminal and without elsewhere.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"

plan 23

is "nothing is held" "$(ringfence list --json)" "[]"
is "a table without rows has its titles" "$(ringfence list | wc -l)" 1
is "free" "$(ringfence inspect job --json | json '.state, .counter' | xargs)" \
    "free null"

ringfence acquire job --ttl 1h --json >grant
ringfence acquire "größe 木" --ttl 90s --json >/dev/null
redis SET '{lock:v1:foreign}' token >/dev/null
is "held" "$(ringfence inspect job --json |
    json '.state, .fence, .counter, .left_ms > 3500000' | xargs)" \
    "held 1 1 true"
is "by whom" "$(ringfence inspect job --json | json .holder)" \
    "$(json .holder <grant)"
is "another program's, which never runs out" \
    "$(ringfence inspect foreign --json | json '.state, .left_ms' | xargs)" \
    "foreign null"
ok "is told to people" prints 'for ever' ringfence inspect foreign
ok "with what to do" prints "another program's lock" ringfence inspect foreign
ok "and to whoever wants it" says \
    'foreign is held by a lock that never runs out' \
    ringfence run foreign -- true
is "list has all of them, by name" \
    "$(ringfence list --json | json '.[].resource' | xargs)" \
    "foreign größe 木 job"
is "one row each" "$(ringfence list | wc -l)" 4
# Columns stand below each other, however wide a letter is.
LC_ALL=C.UTF-8 ringfence list >table
is "in columns of their width" "$(perl -CSD -Mutf8 -ne \
    's/木/xx/g; print length($1), " " if /^(\S.*?)\b(?:STATE|foreign  |held)/' table)" \
    "$(perl -e 'print "10 10 10 10 "')"
redis SET '{lock:v1:spoilt}:fence' abc >/dev/null
is "a counter that is none" \
    "$(ringfence inspect spoilt --json | json .counter_bad)" true
is "with what to do" "$(ringfence inspect spoilt | grep -c 'delete its key')" 1
is "which a lock is not granted over" "$(code ringfence run spoilt -- true)" 109

# ---- Terminals -------------------------------------------------------------

terminal() { script -qec "$1" /dev/null </dev/null; }
has_colour() { grep -q $'\033\[3' <<<"$(terminal "$1")"; }
no_colour() { ! grep -q $'\033' <<<"$(terminal "$1")"; }
export TERM=xterm
ok "colour on a terminal" has_colour "ringfence list"
ok "none with NO_COLOR" no_colour "NO_COLOR=1 ringfence list"
ok "colour with an empty NO_COLOR" has_colour "NO_COLOR= ringfence list"
ok "none on a dumb terminal" no_colour "TERM=dumb ringfence list"
ok "none without TERM" no_colour "env -u TERM ringfence list"
ok "none in a pipe" no_colour "ringfence list | cat"
ok "none in JSON" no_colour "ringfence list --json"

is "on a terminal the command gets the keyboard, and we get it back" \
    "$(printf 'typed\n' | script -qec \
        'ringfence run tty -- sh -c "read line; echo got \$line"; read rest; echo end' /dev/null |
        tr -d '\r' | grep -c '^got typed$')" 1
