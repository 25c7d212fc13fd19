#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# certificates.sh FOLDER: what tests of TLS show each other, good and bad.
# One key (key.pem) serves all that need not be told apart by it.
#
#   ca.pem         the authority that is trusted
#   server.pem     of localhost, redis.test, 127.0.0.1 and ::1
#   elsewhere.pem  of another host; its CN is 127.0.0.1 and must not count
#   expired.pem    of the same hosts, until yesterday
#   self.pem       of the same hosts, signed by itself
#   client.pem     a client
#   stranger.pem   a client; its authority, other-ca.pem, is not trusted
#   other.pem      another key, of other-ca.pem
#   locked.pem     key.pem, locked by a passphrase
set -eu
cd "$1"
hosts=DNS:localhost,DNS:redis.test,IP:127.0.0.1,IP:::1

key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out "$1"; }

# self NAME KEY SUBJECT EXTENSION: signed by itself
self() {
    openssl req -x509 -new -key "$2" -subj "/CN=$3" -days 30 -out "$1" \
        -addext "$4"
}

# signed NAME SUBJECT HOSTS DAYS CA CAKEY
signed() {
    printf 'subjectAltName=%s\n' "$3" >ext.cnf
    openssl req -new -key key.pem -subj "/CN=$2" -out request.pem
    openssl x509 -req -in request.pem -CA "$5" -CAkey "$6" -days "$4" \
        -set_serial "0x$(openssl rand -hex 8)" -extfile ext.cnf -out "$1"
}

key key.pem
key other.pem
key ca-key.pem
openssl pkey -in key.pem -aes128 -passout pass:secret -out locked.pem
self ca.pem ca-key.pem 'ringfence tests' keyUsage=critical,keyCertSign
self other-ca.pem other.pem 'other tests' keyUsage=critical,keyCertSign
self self.pem key.pem self "subjectAltName=$hosts"
signed server.pem server "$hosts" 30 ca.pem ca-key.pem
signed elsewhere.pem 127.0.0.1 DNS:elsewhere.test,IP:192.0.2.1 30 ca.pem ca-key.pem
signed expired.pem server "$hosts" -1 ca.pem ca-key.pem
signed client.pem client DNS:client.test 30 ca.pem ca-key.pem
signed stranger.pem stranger DNS:client.test 30 other-ca.pem other.pem
