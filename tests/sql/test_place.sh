#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# While one session works, others change the tables of the extension as vacuum
# and autovacuum do: so where they are has to be looked up anew at any moment.  No
# call fails of it.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"

# during SECONDS SQL: again and again, each time in a transaction of its own.
# Then whether it was often, and what errors there were; 40001 is to be tried again.
during() {
    psql -X -q -A -t -v VERBOSITY=terse 2>&1 <<SQL
DO \$\$
DECLARE
    until timestamptz := clock_timestamp() + interval '$1 s';
    done int := 0;
BEGIN
    WHILE clock_timestamp() < until LOOP
        BEGIN
            $2;
            done := done + 1;
        EXCEPTION WHEN serialization_failure THEN NULL; WHEN OTHERS THEN
            RAISE NOTICE '%', SQLERRM;
        END;
        COMMIT;
    END LOOP;
    RAISE NOTICE '%', CASE WHEN done > 100 THEN 'often' ELSE done || ' times' END;
END\$\$
SQL
}

# No lock of theirs is in anybody's way; each tells all sessions of a change.
change() {
    during 6 "ALTER TABLE ringfence.registry SET (autovacuum_enabled);
        ALTER TABLE ringfence.receipts SET (autovacuum_enabled);
        ALTER TABLE ringfence.leases SET (autovacuum_enabled)"
}

plan 2
change >"$TMPDIR/changes" &
is "guard(), once() and acquire() find their tables" "$(during 5 "
    PERFORM ringfence.guard('r', 1, 'h'), ringfence.once('r', 'o');
    PERFORM ringfence.acquire('l', 'h', interval '1 s')" | sort | uniq -c)" \
    "      1 NOTICE:  often"
wait
is "while these were changed" "$(cat "$TMPDIR/changes")" "NOTICE:  often"
