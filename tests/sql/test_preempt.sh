#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# A newer grant ends those who hold the resource with an older one, and nobody
# else.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

plan 21

# claim RESOURCE FENCE HOLDER [ROLE]: preempting, with a limit that is an error.
claim() {
    ask "SET client_min_messages = error; ${4:+SET ROLE $4;}
        SET lock_timeout = '${LIMIT:-10s}';
        SELECT ringfence.guard('$1', $2, '$3', preempt => true)"
}
blocked="SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
    AND wait_event_type = 'Lock' AND query LIKE '%ringfence%'
    AND pid <> pg_backend_pid()"
ask "SELECT ringfence.guard('r', 5, 'a'), ringfence.guard('other', 5, 'a');
    CREATE TABLE work (n int);" >/dev/null

# ---- Older ones go ---------------------------------------------------------------

session idle
session busy
session bystander
session moved
session rolled
for name in idle busy rolled; do tell $name "BEGIN"; done
tell rolled "SAVEPOINT s"
for name in idle busy rolled; do
    tell $name "SELECT ringfence.guard('r', 5, 'a')"
done
tell rolled "ROLLBACK TO s"
tell bystander "BEGIN" "SELECT ringfence.guard('other', 5, 'a')"
tell moved "BEGIN" "SELECT ringfence.guard('r', 5, 'a')" "COMMIT" "BEGIN"
tell idle "INSERT INTO work VALUES (1)"
for name in idle busy bystander moved rolled; do settle $name; done
tell busy "SELECT pg_sleep(60)"
wait_until "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND state = 'active' AND pid <> pg_backend_pid()"

is "the newer claim is made" "$(claim r 6 b)" t
for name in idle busy bystander moved rolled; do
    tell $name "COMMIT" "SELECT 'still here'"
    finish $name
done
is "an idle holder has been ended" "$(code_of idle)" 57P01
is "a busy one too" "$(code_of busy)" 57P01
is "what it wrote is gone" "$(ask 'SELECT count(*) FROM work')" 0
is "a holder of another resource is still there" "$(last_of bystander)" "still here"
is "so is one whose transaction had ended" "$(last_of moved)" "still here"
is "and one that had given its claim back" "$(last_of rolled)" "still here"

session opening
tell opening "BEGIN" "SELECT ringfence.guard('r', 7, 'c')"
settle opening
is "an older claim that is not yet committed goes" "$(claim r 8 d)" t
tell opening "COMMIT"
finish opening
is "and its session" "$(code_of opening)" 57P01
is "its fence was never stored" "$(ask "SELECT ringfence.high_water('r')")" 8

# ---- The others stay -------------------------------------------------------------

session newer
tell newer "BEGIN" "SELECT ringfence.guard('r', 10, 'e')"
settle newer
LIMIT=300ms
is "a newer claim is waited for, within lock_timeout" "$(claim r 9 d)" "ERROR:  55P03"
LIMIT=10s
session late
tell late "SELECT ringfence.try_guard('r', 9, 'd', preempt => true)"
wait_until "$blocked"
tell newer "COMMIT" "SELECT 'still here'"
finish newer
finish late
is "it commits" "$(last_of newer)" "still here"
is "and then refuses the one that waited" "$(last_of late)" f

session same
tell same "BEGIN" "SELECT ringfence.guard('r', 10, 'e')"
settle same
is "a transaction of the same grant is not in the way" "$(claim r 10 e)" t
is "a refused grant ends nobody" "$(claim r 9 d)" "ERROR:  RF001"
tell same "COMMIT" "SELECT 'still here'"
finish same
is "it is still there" "$(last_of same)" "still here"

# ---- Whose sessions the caller may end ----------------------------------------------

ask "SET client_min_messages = error;
    DROP ROLE IF EXISTS rf_app; DROP ROLE IF EXISTS rf_peer;
    CREATE ROLE rf_app LOGIN; CREATE ROLE rf_peer LOGIN;
    SELECT ringfence.grant_to('rf_app'); SELECT ringfence.grant_to('rf_peer')" >/dev/null
session super
tell super "BEGIN" "SELECT ringfence.guard('r', 10, 'e')"
settle super
LIMIT=300ms
is "a superuser's session is waited for" "$(claim r 11 f rf_app)" "ERROR:  55P03"
tell super "COMMIT" "SELECT 'still here'"
finish super
is "and stays" "$(last_of super)" "still here"

PGUSER=rf_app session app
tell app "BEGIN" "SELECT ringfence.guard('r', 12, 'g')"
settle app
is "another role's session is waited for" "$(claim r 13 h rf_peer)" "ERROR:  55P03"
LIMIT=10s
is "one's own role's goes" "$(claim r 13 h rf_app)" t
tell app "COMMIT"
finish app
is "and is told so" "$(code_of app)" 57P01
ask "DROP OWNED BY rf_app, rf_peer; DROP ROLE rf_app, rf_peer" >/dev/null
