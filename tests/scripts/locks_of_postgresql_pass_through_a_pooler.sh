#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# The whole contract of postgresql://, with PgBouncer in transaction mode in
# between: one server connection for everybody, and nobody to listen on it.
set -u
# shellcheck source=tests/lib/pgbouncer.sh
. "$RF_ROOT/tests/lib/pgbouncer.sh"

trap 'pooler_stop "$TMPDIR/b"' EXIT
mkdir "$TMPDIR/b"
chmod 755 "$TMPDIR" "$TMPDIR/b"
pooler_start "$TMPDIR/b" || exit 1
export RF_POSTGRESQL_URL="postgresql:///?host=$TMPDIR/b&port=6432"
"$RF_BUILD/tests/test_every_source" postgresql
