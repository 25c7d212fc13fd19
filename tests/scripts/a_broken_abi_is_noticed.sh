#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# The ABI check passes the library as it is and one that has grown, and refuses
# one that lacks a function, or whose structures and numbers are others than
# those of the release before.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
export RF_ABI=$TMPDIR
library=$RF_BUILD/libringfence.so
soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
dump=$TMPDIR/$soname.abi
check() { "$RF_ROOT/tests/abi/check" "$@"; }

# The same objects, with one name less in what is exported.
without() {
    sed "s/local:/local: $1;/" "$RF_ROOT/client/ringfence.map" >"$TMPDIR/map"
    "${CC:-gcc}" -shared -Wl,-soname,"$soname" -Wl,--version-script,"$TMPDIR/map" \
        -o "$TMPDIR/$2" "$RF_BUILD"/obj/client/*.o "$RF_BUILD"/obj/gen/*.o
}
# since WHAT SED: the release before had something else; the check says WHAT.
since() {
    cp "$dump" "$TMPDIR/kept"
    sed -i "$2" "$dump"
    ! cmp -s "$dump" "$TMPDIR/kept" || echo "nothing was changed"
    ! check "$library" >"$TMPDIR/said" 2>&1 && grep -q "$1" "$TMPDIR/said" &&
        grep -q 'would break' "$TMPDIR/said"
    local verdict=$?
    cat "$TMPDIR/said"
    cp "$TMPDIR/kept" "$dump"
    return $verdict
}
refused() {
    ! check "$2" >"$TMPDIR/said" 2>&1 && grep -q "$1" "$TMPDIR/said" && return
    cat "$TMPDIR/said"
    return 1
}
stripped() { strip --strip-debug -o "$TMPDIR/stripped.so" "$library"; }

names_no_folder() { ! grep -n "='/" "$@"; }

plan 12
ok "a dump can be made" check --accept "$library"
ok "which names no folder of the machine" names_no_folder "$RF_ABI"/*.abi
ok "nor does the one that is kept" names_no_folder "$RF_ROOT"/tests/abi/*.abi
ok "the library is as it was" check "$library"
ok "one function can be left out" without rf_cancel less.so
ok "then the check refuses" refused 'rf_cancel' "$TMPDIR/less.so"
ok "one that has grown passes" env RF_ABI="$TMPDIR/old" bash -c "
    mkdir '$TMPDIR/old' && '$RF_ROOT/tests/abi/check' --accept '$TMPDIR/less.so' &&
    '$RF_ROOT/tests/abi/check' '$library'"
ok "a structure of another size is refused" since 'rf_loop' \
    "/class-decl name='rf_loop'/s/size-in-bits='[0-9]*'/size-in-bits='128'/"
ok "so is another number for an outcome" since 'RF_NOMEM' \
    "s/name='RF_NOMEM' value='10'/name='RF_NOMEM' value='9'/"
rm "$dump"
ok "a SONAME without a dump is refused" refused 'no dump of' "$library"
ok "a library can be stripped" stripped
ok "and is refused then" refused 'no debug information' "$TMPDIR/stripped.so"
