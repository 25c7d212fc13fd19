#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# A library built with TLS=no, ETCD=no and ZOOKEEPER=no needs no OpenSSL, no
# libcurl and no client of ZooKeeper, works in the clear, and says at once that it
# can't do what the URL asks for.
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

build() {
    env -u MAKEFLAGS -u MAKELEVEL make -s -C "$RF_ROOT/client" \
        BUILD="$TMPDIR/build" TLS=no ETCD=no ZOOKEEPER=no CFLAGS=-O0 SANITIZE= \
        COVERAGE= V= WERROR=1
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
plan 5
ok "it builds without a warning" build
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
