#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# nightly.sh - a job that cron starts on every machine, and one of them does
#
#     17 3 * * *  ringfence run job:nightly -- /usr/local/bin/nightly.sh
#
# The command takes the lock, keeps it while this runs, and ends this when it is
# lost.  What is written carries the fence that it was started with: should this
# be stopped for an hour and wake up beside its successor, the database refuses.
set -euo pipefail

psql -X -q -v ON_ERROR_STOP=1 \
    -v resource="$RINGFENCE_RESOURCE" -v fence="$RINGFENCE_FENCE" \
    -v holder="$RINGFENCE_HOLDER" <<'SQL'
BEGIN;
SELECT ringfence.guard(:'resource', :fence, :'holder') \g /dev/null
INSERT INTO nightly (day, fence)
    SELECT current_date, ringfence.fence(:'resource')
    WHERE ringfence.once(:'resource', 'nightly ' || current_date);
COMMIT;
SQL
