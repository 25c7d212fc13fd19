#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Acquire and release, from every source of locks; sources/main.c tells it.  What
# has no server here is in the results as "not had".
set -euo pipefail

# not_had NAME WHY
not_had() { printf 'sources.%s\tnot had\t%s\t\t\t\t\n' "$1" "$2"; }

names=(redis redlock postgresql shedlock advisory)
if command -v etcd >/dev/null; then
    names+=(etcd)
else
    not_had etcd 'no etcd'
fi
if command -v java >/dev/null && [ -f /usr/share/java/zookeeper.jar ]; then
    names+=(zookeeper)
else
    not_had zookeeper 'no ZooKeeper'
fi
exec "$RF_BUILD/bench/sources" "${ROUNDS:-15}" "${names[@]}"
