#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Installs into a folder, builds programs against what is there through
# pkg-config alone, looks at what the library exports, and uninstalls.
# Not under SANITIZE: it builds programs of its own, plainly.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
cd "$TMPDIR" || exit 1

DEST=$TMPDIR/dest
PREFIX=/opt/ringfence
LIB=$DEST$PREFIX/lib
INC=$DEST$PREFIX/include
CC=${CC:-gcc}
CXX=${CXX:-g++}
STRICT="-Wall -Wextra -pedantic -Werror"

# Objects of its own, since others may be building in the usual folder.
tree() {
    env -u MAKEFLAGS -u MAKELEVEL make -s -C "$RF_ROOT" "$1" \
        BUILD="$TMPDIR/build" PREFIX=$PREFIX DESTDIR="$DEST" SANITIZE= \
        COVERAGE= V=
}

# The file's paths hang on its prefix, which is all that DEST changes.
flags() {
    sed "s|^prefix=.*|prefix=$DEST$PREFIX|" "$LIB/pkgconfig/ringfence.pc" \
        >ringfence.pc
    PKG_CONFIG_PATH=$TMPDIR pkg-config "$@" ringfence
}

cat >program.c <<'C'
#include <ringfence.h>
#include <ringfence_pg.h>
#include <stdio.h>

int main(void)
{
    rf_client *client;

    if (rf_open("nonsense", NULL, &client) != RF_MISUSE)
        return 1;
    if (rf_pg_status("RF001") != RF_STALE)
        return 2;
    puts(rf_version());
    return 0;
}
C
cp program.c program.cc
echo '#include <ringfence.h>' >lock.c
echo '#include <ringfence_pg.h>' >pg.c
echo '#include <ringfence_async.h>' >loop.c
cp lock.c lock.cc
cp loop.c loop.cc
cp pg.c pg.cc

# shellcheck disable=SC2046,SC2086
{
    compile_c() { $CC -std=c11 $STRICT -c -o "$1.o" "$1.c" $(flags --cflags); }
    compile_cc() {
        $CXX -std=c++11 $STRICT -c -o "$1.o" "$1.cc" $(flags --cflags)
    }
    link_shared() { $CC -o shared program.c $(flags --cflags --libs); }
    link_cc() { $CXX -o shared_cc program.cc $(flags --cflags --libs); }
    link_static() {
        $CC -o static program.c $(flags --cflags) "$LIB/libringfence.a" \
            $(pkg-config --libs libpq hiredis openssl libcurl jansson) \
            $(sed -n 's/^Libs.private: //p' "$LIB/pkgconfig/ringfence.pc")
    }
}

exported() {
    nm -D --defined-only "$LIB/libringfence.so" | awk '$2 != "A" { print $3 }' |
        sed 's/@.*//' | sort
}
# Every prototype in the headers begins with its type in the first column.
declared() {
    sed -n 's/^[a-z].*[ *]\(rf_[a-z0-9_]*\)(.*/\1/p' "$INC"/ringfence*.h | sort
}
dynamic() { readelf -d "$1" | sed -n "s/.*($2).*\[\(.*\)\]/\1/p"; }
needs_soname() { dynamic shared NEEDED | grep -qx "$1"; }
left() { find "$DEST" -type f -o -type l; }

plan 26
ok "make install" tree install
version=$(flags --modversion)
soname=libringfence.so.${version%%.*}
ok "the header stands alone in C" compile_c lock
ok "the PostgreSQL header stands alone in C" compile_c pg
ok "the event loop's header stands alone in C" compile_c loop
ok "the header stands alone in C++" compile_cc lock
ok "the event loop's header stands alone in C++" compile_cc loop
ok "the PostgreSQL header stands alone in C++" compile_cc pg
ok "a C program links with the shared library" link_shared
is "and runs" "$(LD_LIBRARY_PATH=$LIB ./shared)" "$version"
ok "a C++ program links with the shared library" link_cc
is "and runs, too" "$(LD_LIBRARY_PATH=$LIB ./shared_cc)" "$version"
ok "a C program links with the static library" link_static
is "and runs without the shared one" "$(./static)" "$version"
is "the SONAME follows the major version" \
    "$(dynamic "$LIB/libringfence.so" SONAME)" "$soname"
ok "a program needs the library by its SONAME" needs_soname "$soname"
is "exported is what the headers declare, and nothing else" \
    "$(exported)" "$(declared)"
is "no header but the public ones" "$(cd "$INC" && echo *)" \
    "ringfence.h ringfence_async.h ringfence_pg.h"
is "the command is there, and has the version" \
    "$("$DEST$PREFIX/bin/ringfence" --version)" "ringfence $version"
is "so are its manual pages, one for each command and one for all" \
    "$(find "$DEST$PREFIX/share/man/man1" -name 'ringfence*.1' | wc -l)" \
    "$(($(find "$RF_ROOT/client/cli" -name 'cmd_*.c' | wc -l) + 1))"
ok "and what bash completes" \
    grep -q 'complete -F' "$DEST$PREFIX/share/bash-completion/completions/ringfence"
is "it brings the library with it" \
    "$(readelf -d "$DEST$PREFIX/bin/ringfence" | grep -c libringfence)" 0
is "every Lua file is there" \
    "$(cd "$DEST$PREFIX/share/ringfence/lua" && echo *)" \
    "$(cd "$RF_ROOT/client/lua" && echo *)"
ok "the extension's library is there" \
    test -f "$DEST$($PG_CONFIG --pkglibdir)/ringfence.so"
ok "the extension's script has the version in its name" \
    test -f "$DEST$($PG_CONFIG --sharedir)/extension/ringfence--$version.sql"
ok "make uninstall" tree uninstall
is "leaves no file" "$(left)" ""
