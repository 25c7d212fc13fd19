# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: a transaction with the guard passed is prepared for two-phase commit and left alone; a new holder comes.
# Holds: the new claim waits, as long as it may, and never overtakes; once the old one is decided it works.
# Seen: what each operation had read, in the log of changes.
drill() {
    sql "BEGIN; SELECT ringfence.guard('a', 1, 'old');
         INSERT INTO work SELECT 'old-1', 'a', newest, 1, 'old' FROM item
         WHERE name = 'a';
         UPDATE item SET newest = 'old-1', fence = 1 WHERE name = 'a';
         PREPARE TRANSACTION '$PGDATABASE'"
    happens "a transaction with the guard passed is prepared"
    redis set "$lock_key:fence" 5
    PGOPTIONS='-c lock_timeout=500' worker first ttl=20000
    await 20 "it has tried" logged $'first\t(believes|acquire\tRF_[^O])'
    happens "the prepared transaction is committed"
    sql "COMMIT PREPARED '$PGDATABASE'"
    until_over "$first"
    alive
}
