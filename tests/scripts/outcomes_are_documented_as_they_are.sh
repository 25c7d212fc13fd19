#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# The tables of outcomes and of SQLSTATEs against the library and the headers.
# shellcheck disable=SC2016 # backquotes of Markdown, not of the shell
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
cd "$TMPDIR" || exit 1

# build NAME: a program from NAME.c and the library.
build() {
    # shellcheck disable=SC2046
    ${CC:-gcc} -o "$1" "$1.c" -I"$RF_ROOT/client" \
        $(pkg-config --cflags libpq) \
        ${SANITIZE:+-fsanitize=address,undefined} \
        ${COVERAGE:+--coverage} \
        "$RF_BUILD/libringfence.so" -Wl,-rpath,"$RF_BUILD" -pthread $(pkg-config --libs hiredis libpq)
}

# What the library says of every enumerator of the header.
sed -n '/^typedef enum rf_status/,/^}/s/^ *\(RF_[A-Z]*\) = .*/TELL(\1)/p' \
    "$RF_ROOT/client/ringfence.h" >outcomes.inc
cat >list.c <<'C'
#include <ringfence.h>
#include <stdio.h>
#define TELL(s) printf("%d | %s | %s\n", s, rf_status_name(s), rf_status_text(s));
int main(void)
{
#include "outcomes.inc"
    return 0;
}
C

# What it makes of an SQLSTATE.
cat >map.c <<'C'
#include <ringfence_pg.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        puts(rf_status_name(rf_pg_status(argv[i])));
    return 0;
}
C
build list && build map || exit 1

# What the errors' header says: SQLSTATE | message.
errors() {
    sed -n "s/^#define ERRCODE_RF_\([A-Z]*\).*MAKE_SQLSTATE(\(.*\))/\1 \2/p" \
        "$RF_ROOT/pg_extension/errcodes.h" | while read -r name code; do
        message=$(sed -n "s/^#define RF_MSG_${name}[[:space:]]*\"\(.*\)\"/\1/p" \
            "$RF_ROOT/pg_extension/errcodes.h")
        code=$(tr -d "', " <<<"$code")
        echo "$code | $message"
    done
}

doc=$RF_ROOT/docs/outcomes.md
rows() { sed -n 's/^| \([0-9]*\) | `\(RF_[A-Z]*\)` | [a-z]* | \(.*\) |$/\1 | \2 | \3/p' "$1"; }
states() { sed -n 's/^| `\(RF0[0-9]*\)` | \([^|]*\) | `.*/\1 | \2/p' "$1"; }
mapped() { sed -n 's/^| `\(RF0[0-9]*\)` | [^|]* | `\(RF_[A-Z]*\)` .*/\2/p' "$1"; }
named() { sed -n '/^| outcome | next/,/^$/p' "$1" | grep -o 'RF_[A-Z]*' | sort; }

# A line for each SQLSTATE of the second table: the code, and its outcome.
others() {
    sed -n '/^| SQLSTATE | outcome | because/,/^$/p' "$1" |
        sed -n 's/^| \(`[0-9].*\) | `\(RF_[A-Z]*\)` .*/\1|\2/p' |
        while IFS='|' read -r codes outcome; do
            grep -o '`[0-9A-Zx]*`' <<<"$codes" | tr -d '`' | tr x 9 |
                sed "s/\$/ $outcome/"
        done
}
others_mapped() {
    others "$1" | while read -r code _; do
        echo "$code $(./map "$code")"
    done
}

plan 8
is "every outcome, with its value and its text" "$(rows "$doc")" "$(./list)"
ok "there are some" test "$(rows "$doc" | wc -l)" -ge 11
is "every SQLSTATE, with its message" "$(states "$doc")" "$(errors)"
ok "there are some of them, too" test "$(states "$doc" | wc -l)" -ge 6
# shellcheck disable=SC2046
is "every SQLSTATE has the outcome that the library gives it" \
    "$(mapped "$doc")" "$(./map $(states "$doc" | cut -d' ' -f1))"
is "and so has every other one that is listed" "$(others "$doc")" \
    "$(others_mapped "$doc")"
ok "of which there are some" test "$(others "$doc" | wc -l)" -ge 10
is "the README's table leaves none out" "$(named "$RF_ROOT/README.md")" \
    "$(./list | grep -o 'RF_[A-Z]*' | sort)"
