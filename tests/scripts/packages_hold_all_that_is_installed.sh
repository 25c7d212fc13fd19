#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Every file that make install puts somewhere is in one Debian package, and what
# is told to Debian and PGXN is what the sources say.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
debian=$RF_ROOT/pg_extension/packaging/debian
dest=$TMPDIR/dest

install_there() {
    env -u MAKEFLAGS -u MAKELEVEL make -s -C "$RF_ROOT" install V= SANITIZE= \
        DESTDIR="$dest" PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu
}
# In how many packages a file is.
owners() {
    local file=$1 pattern n=0
    while IFS= read -r pattern; do
        # shellcheck disable=SC2053
        [[ $file == $pattern ]] && n=$((n + 1))
    done < <(cat "$debian"/*.install)
    echo $n
}
not_in_one() {
    local file
    cd "$dest" && find . ! -type d -printf '%P\n' | while IFS= read -r file; do
        [ "$(owners "$file")" = 1 ] || echo "$file"
    done
}
matches_nothing() {
    local pattern
    cd "$dest" && while IFS= read -r pattern; do
        compgen -G "$pattern" >/dev/null || echo "$pattern"
    done < <(cat "$debian"/*.install)
}
version=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" \
    "$RF_ROOT/pg_extension/ringfence.control")
meta=$TMPDIR/META.json
sed "s/@VERSION@/$version/" "$RF_ROOT/pg_extension/packaging/META.json.in" >"$meta"

plan 5
ok "it installs" install_there
is "every file is in one package" "$(not_in_one)" ""
is "and every line of a package finds a file" "$(matches_nothing)" ""
is "PGXN is told the version" "$(jq -r .provides.ringfence.version "$meta")" "$version"
is "and a file that exists" "$(cd "$RF_ROOT" && ls "$(jq -r .provides.ringfence.file "$meta")")" \
    sql/ringfence.sql
