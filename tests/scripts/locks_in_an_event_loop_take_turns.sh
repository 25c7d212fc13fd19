#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Runs the example for event loops against a Redis of its own.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/lib/redis.sh
. "$RF_ROOT/tests/lib/redis.sh"

DIR=$(mktemp -d /tmp/rf.XXXXXX)
trap 'redis_stop "$DIR"; rm -rf "$DIR"' EXIT
redis_start "$DIR" || exit 1

plan 4
story=$(timeout 60 "$RF_BUILD/examples/event_loop" "$DIR/redis.sock")
is "all tasks had the lock" $? 0
is "one after the other" "$story" "$(printf 'fence %d\n' {1..10})"

# A Redis that is not there: told, not waited for.
timeout 60 "$RF_BUILD/examples/event_loop" "$DIR/nothing" 2>"$DIR/err"
is "without a Redis it ends" $? 1
ok "and says why" grep -q '^RF_RETRY: cannot connect' "$DIR/err"
