#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Whatever a fuzzer has found, or was started with, does no harm any more.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
here=$RF_ROOT/tests/fuzz

build() {
    env -u MAKEFLAGS -u MAKELEVEL make -s -f "$here/Makefile" \
        BUILD="$RF_BUILD" WERROR=1 replay
}

plan 3
ok "the programs build without a warning" build
for target in url client; do
    ok "$target: every input of the corpus is survived" \
        timeout 60 "$RF_BUILD/fuzz/replay_$target" "$here/corpus/$target"/*
done
