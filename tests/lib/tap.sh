# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# tap.sh - TAP for test scripts in bash (to be sourced)
#
#   plan N                 first
#   ok NAME COMMAND...     one assertion: the command succeeds; what it says is
#                          the diagnostic when it does not
#   is NAME HAVE WANT      one assertion: two texts are equal

tap_count=0

plan() { echo "1..$1"; }

tap_result() {
    tap_count=$((tap_count + 1))
    if [ "$2" = 0 ]; then
        echo "ok $tap_count - $1"
        return 0
    fi
    echo "not ok $tap_count - $1"
    while IFS= read -r line; do
        printf '# %s\n' "$line"
    done <<<"$3"
    return 0
}

ok() {
    local name=$1 said status=0
    shift
    said=$("$@" 2>&1 </dev/null) || status=$?
    tap_result "$name" $status "$said"
}

is() {
    local same=0
    [ "$2" = "$3" ] || same=1
    tap_result "$1" $same "have: $2"$'\n'"want: $3"
}
