#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# make matrix where the other PostgreSQLs can't be had: apt knows of no mirror
# here, or there is no debootstrap, or nobody is root.  It says so, of each, and
# fails; but not for the one that no release of Debian has, unless that was asked
# for.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"

mkdir -p "$TMPDIR/tree/tests" "$TMPDIR/lists/partial"
cp -R "$RF_ROOT/tests/matrix" "$TMPDIR/tree/tests/"
cat >"$TMPDIR/apt.conf" <<CONF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "-";
Dir::State::lists "$TMPDIR/lists";
CONF

# matrix VERSIONS: what it prints, and then its exit status.
matrix() {
    APT_CONFIG=$TMPDIR/apt.conf PG=$1 T='' "$TMPDIR/tree/tests/matrix/run" 2>&1
    echo "exit status $?"
}
told=$(matrix "13 17")
in_words() { grep -qE "$1" <<<"$told" || { echo "$told" && return 1; }; }

plan 8
ok "one is told, with its reason" in_words '^13 +bullseye +not had: [a-zA-Z]'
ok "the other, too" in_words '^17 +trixie +not had: [a-zA-Z]'
ok "and how many in the last line" \
    in_words '^0 passed, 0 failed, 2 of the versions not had$'
ok "which is a failure" in_words '^exit status 1$'
told=$(matrix 19)
ok "nor is the one that no release has, when it was asked for" \
    in_words '^exit status 1$'

# The others are had, as far as the table is told: no Debian is entered.
mkdir -p "$TMPDIR/bin"
cat >"$TMPDIR/tree/tests/matrix/debian" <<'SH'
#!/bin/sh
[ "$1" != 19 ] || { echo "nobody has it" >&2; exit 1; }
SH
cat >"$TMPDIR/bin/unshare" <<'SH'
#!/bin/sh
while [ "$1" != in_debian ]; do shift; done
printf '18.1\t0\t5\t0\n' >"$2/build/result"
SH
chmod +x "$TMPDIR/bin/unshare"
told=$(PATH=$TMPDIR/bin:$PATH matrix "")
ok "when it was not, it is told all the same" \
    in_words '^19 +experimental +not had, which fails nothing: nobody has it$'
ok "and all is well with the others" in_words '^exit status 0$'
told=$(matrix 12)
ok "a version that no Debian is known for is one as well" \
    in_words '^exit status 2$'
