#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Our lock and those that people would take instead; peers.c tells how.  The
# versions of those from npm are in peers/package-lock.json; npm puts them below
# the build folder.  Who can't be had is in the results as "not had".
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
modules=$RF_BUILD/bench/peers.npm
contestants=(ringfence "$RF_BUILD/bench/peers --ourselves")

# not_had NAME WHY
not_had() { printf 'peers.%s\tnot had\t%s\t\t\t\t\n' "$1" "$2"; }

# Once for each list of versions.
get_modules() {
    cmp -s "$here/peers/package-lock.json" "$modules/had.json" && return
    rm -rf "$modules"
    mkdir -p "$modules"
    cp "$here"/peers/{package,package-lock}.json "$modules/"
    npm ci --prefix "$modules" --ignore-scripts --no-audit --no-fund \
        >"$modules/log" 2>&1 || return
    cp "$modules/package-lock.json" "$modules/had.json"
}

# Debian's python, whatever else is called so.
if /usr/bin/python3 -c 'import redis' 2>/dev/null; then
    contestants+=(redis_py "/usr/bin/python3 $here/peers/redis_py.py")
else
    not_had redis_py 'no python3-redis'
fi
why=
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    why='no node, no npm'
elif ! get_modules; then
    why='npm failed'
fi
for name in redlock redis_semaphore; do
    if [ -n "$why" ]; then
        not_had $name "$why"
    else
        cp "$here"/peers/*.js "$modules/"
        contestants+=("$name" "node $modules/$name.js")
    fi
done
# What no client can do without: two requests over TCP.
contestants+=(least "$RF_BUILD/bench/peers --least")
exec "$RF_BUILD/bench/peers" "${ROUNDS:-41}" "${contestants[@]}"
