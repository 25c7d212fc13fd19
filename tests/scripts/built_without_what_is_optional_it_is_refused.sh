#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# A library built with TLS=no, ETCD=no and ZOOKEEPER=no needs no OpenSSL, no
# libcurl and no client of ZooKeeper, works in the clear, and says at once that it
# can't do what the URL asks for.  So do the tests, which build all the same, and
# with one of the two sources left out as well.
# Not under SANITIZE: it builds libraries of its own, plainly.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
cd "$TMPDIR" || exit 1

cat >program.c <<'C'
#include <ringfence.h>
#include <stdio.h>

static void show(const char *url)
{
    rf_client *client;

    printf("%s", rf_status_name(rf_open(url, NULL, &client)));
    if (client == NULL)
        printf(", %s", rf_message(NULL));
    puts("");
    rf_close(client);
}

int main(void)
{
    show("redis://:secret@127.0.0.1");
    show("rediss://:secret@127.0.0.1");
    show("rediss+sentinel://:secret@127.0.0.1/main");
    show("rediss+cluster://:secret@127.0.0.1");
    show("redlocks://:secret@127.0.0.1,127.0.0.2,127.0.0.3");
    show("etcd://a:secret@127.0.0.1");
    show("zookeeper://a:secret@127.0.0.1");
    return 0;
}
C

# build TARGET ETCD ZOOKEEPER [T]: with what is yes.
build() {
    env -u MAKEFLAGS -u MAKELEVEL make -s -j2 -C "$RF_ROOT/client" "$1" \
        BUILD="$TMPDIR/build" TLS=no ETCD="$2" ZOOKEEPER="$3" T="${4:-}" \
        CFLAGS=-O0 SANITIZE= COVERAGE= V= WERROR=1
}
# shellcheck disable=SC2046
link() {
    ${CC:-gcc} -o program program.c -I"$RF_ROOT/client" build/libringfence.a \
        $(pkg-config --libs libpq hiredis) -pthread
}
needed() {
    readelf -d build/libringfence.so | grep -c 'lib\(ssl\|crypto\|curl\|jansson\|zookeeper\)'
}

no="RF_MISUSE, URL of the lock service: it asks for TLS, and this library was \
built without it"
# refusals SOURCE: of all programs that try what is inside of it, which tests
# pass and which are left.
refusals() {
    local program
    for program in build/tests/test_"$1"_*; do
        [[ $program != *_keys ]] || continue
        CMOCKA_MESSAGE_OUTPUT=TAP "$program" </dev/null
    done
    build/tests/test_every_source "$1"
}
passed() { "$@" 2>&1 | grep -c '^ok .*test_source_that_was_left_out_is_refused$'; }
others() { "$@" 2>&1 | grep '^\(not \)\?ok' | grep -vc test_source_that_was_left_out_is_refused; }
sources='every_source|etcd_|zookeeper_'

plan 13
ok "it builds without a warning" build all no no
is "and needs nothing of the kind" "$(needed)" 0
is "nor does ringfence.pc" "$(grep -c 'openssl\|curl\|zookeeper' build/ringfence.pc)" 0
ok "a program links with it" link
is "it is refused when a client is opened" "$(./program)" "RF_OK
$no
$no
$no
$no
RF_MISUSE, URL of the lock service: it names an etcd, and this library was \
built without libcurl and jansson
RF_MISUSE, URL of the lock service: it names a ZooKeeper, and this library was \
built without its client"

ok "and so do all tests" build tests no no
is "those of etcd see that it is refused" "$(passed refusals etcd) $(others refusals etcd)" "3 0"
is "those of ZooKeeper as well" "$(passed refusals zookeeper) $(others refusals zookeeper)" "4 0"
ok "memory runs out without them as well" env CMOCKA_MESSAGE_OUTPUT=TAP build/tests/test_nomem
ok "they build with etcd alone" build tests yes no "$sources"
is "where ZooKeeper is refused" "$(passed refusals zookeeper) $(others refusals zookeeper)" "4 0"
ok "and with ZooKeeper alone" build tests no yes "$sources"
is "where etcd is refused" "$(passed refusals etcd) $(others refusals etcd)" "3 0"
