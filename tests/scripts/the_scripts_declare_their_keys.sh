#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Every command that a script gives Redis names a key that it was given: a name
# that it made by itself would be on another node of a cluster, or beyond what
# the user may touch, and nobody would know before it is too late.
set -u
. "$RF_ROOT/tests/lib/tap.sh"
cd "$RF_ROOT/client/lua" || exit 1

# Each command with its first argument: "FILE COMMAND KEY"; TIME has none.
commands() {
    perl -0777 -ne '
        while (/redis\.p?call\(\s*\x27(\w+)\x27\s*(?:,\s*([^,)]+))?/g) {
            printf "%s %s %s\n", $ARGV, $1, $2 // "";
        }' ./*.lua
}

# Locals that were given the value of one of KEYS, or are a parameter.
known='KEYS\[[^]]*\]'
known+='|./acquire_all.lua [A-Z]+ (lock|wake)'
known+='|./(acquire|acquire_all|inspect).lua GET key'

plan 3
is "there is something to look at" "$(($(commands | wc -l) > 100))" 1
is "every command has one of KEYS, but TIME" \
    "$(commands | grep -vE " TIME \$|($known)\$")" ""
is "no name is made out of another" \
    "$(grep -nE 'KEYS\[[^]]*\] *\.\.' ./*.lua | grep -v 'redis\.log')" ""
