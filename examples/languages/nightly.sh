#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# nightly.sh - a job that cron starts on every machine, and one of them does
#
#     17 3 * * *  ringfence run job:nightly -- /usr/local/bin/nightly.sh
#
# The command takes the lock, keeps it while this runs, and ends this when it is
# lost; 101 means that another machine has it.  What is written carries the fence
# that it was started with: should this be stopped for an hour and wake up beside
# its successor, the database refuses (psql says RF001, and ends with 3).
set -euo pipefail

night=$(date +%F) # once: it may be midnight soon

work() {
    psql -X -q -v ON_ERROR_STOP=1 -v VERBOSITY=verbose -v night="$night" \
        -v resource="$RINGFENCE_RESOURCE" -v fence="$RINGFENCE_FENCE" \
        -v holder="$RINGFENCE_HOLDER" <<'SQL'
BEGIN;
SELECT ringfence.guard(:'resource', :fence, :'holder') \g /dev/null
INSERT INTO nightly (day, fence)
    SELECT :'night'::date, ringfence.fence(:'resource')
    WHERE ringfence.once(:'resource', 'nightly ' || :'night');
COMMIT;
SQL
}

# 2 from psql: the connection was lost, and nobody knows what landed.  The
# receipt of once() lets it be sent again.  All else is final.
for pause in 1 2 4 8 0; do
    status=0
    work || status=$?
    [ "$status" = 2 ] || exit "$status"
    sleep "$pause"
done
exit 2
