#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# etcds://: the server's certificate and name are checked, ours is shown when it
# is asked for, and nothing is sent to whoever can't be trusted.
# shellcheck disable=SC2154 # set by serve
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"
# shellcheck source=tests/lib/etcd.sh
. "$RF_ROOT/tests/lib/etcd.sh"

mkdir c
sh "$RF_ROOT/tests/lib/certificates.sh" "$TMPDIR/c" 2>c.log || exit 1
trap 'for i in good elsewhere expired picky; do etcd_stop "$TMPDIR/$i"; done; redis_stop "$TMPDIR"' EXIT

# serve NAME CERTIFICATE [ARG...]: an etcd that shows this certificate; its URL,
# secure, is in $NAME
serve() {
    local name=$1 cert=$2
    shift 2
    mkdir "$name"
    etcd_scheme=https etcd_start "$TMPDIR/$name" --cert-file "$TMPDIR/c/$cert.pem" \
        --key-file "$TMPDIR/c/key.pem" "$@" || exit 1
    printf -v "$name" %s "etcds${etcd_url#etcd}"
}
ca=cafile=$TMPDIR/c/ca.pem
try() { code ringfence run job --timeout 5s --url "$1" -- true; }

serve good server
serve elsewhere elsewhere
serve expired expired
etcd_curl=(--cert "$TMPDIR/c/client.pem" --key "$TMPDIR/c/key.pem")
serve picky server --client-cert-auth --trusted-ca-file "$TMPDIR/c/ca.pem"

plan 10
is "a certificate of an authority that is named" "$(try "$good?$ca")" 0
is "the doctor sees it" "$(ringfence doctor --json --url "$good?$ca" |
    json '.[] | select(.subject == "tls" or .subject == "permissions") | .severity' | xargs)" "ok ok"
is "an authority that nobody trusts" "$(try "$good")" 109
is "another one" "$(try "$good?cafile=$TMPDIR/c/other-ca.pem")" 109
is "a file that is not there" "$(try "$good?cafile=$TMPDIR/c/nothing.pem")" 109
is "a certificate of another host" "$(try "$elsewhere?$ca")" 109
is "one that has run out" "$(try "$expired?$ca")" 109
is "a certificate of ours, where it is asked for" \
    "$(try "$picky?$ca&certfile=$TMPDIR/c/client.pem&keyfile=$TMPDIR/c/key.pem")" 0
ok "none of ours" test "$(try "$picky?$ca")" != 0
ok "in the clear nothing is granted" test "$(try "etcd${good#etcds}")" != 0
