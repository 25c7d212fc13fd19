#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# ringfence doctor and heal where locks come from PostgreSQL, etcd or ZooKeeper:
# what each may suffer from is given to it and must be found, and where nobody can
# raise the numbers, the base that the URL needs is worked out.
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"
# shellcheck source=tests/lib/etcd.sh
. "$RF_ROOT/tests/lib/etcd.sh"
# shellcheck source=tests/lib/zookeeper.sh
. "$RF_ROOT/tests/lib/zookeeper.sh"
# shellcheck source=tests/lib/pgbouncer.sh
. "$RF_ROOT/tests/lib/pgbouncer.sh"

# found SUBJECT: severity and what was found, of the first of that name.
found() {
    ringfence doctor --json 2>/dev/null | jq -r --arg subject "$1" \
        '[.[] | select(.subject == $subject)][0] | .severity + " " + .found'
}
severity() { found "$1" | cut -d' ' -f1; }
often() { ringfence doctor --json 2>/dev/null | jq --arg subject "$1" '[.[] | select(.subject == $subject)] | length'; }

remedy() {
    ringfence doctor --json 2>/dev/null | jq -r --arg subject "$1" '.[] | select(.subject == $subject) | .remedy'
}

mkdir etcd pooler zookeeper
plan 46

# ---- PostgreSQL ------------------------------------------------------------

export RINGFENCE_URL="postgresql:///$test_database?host=$test_host"
is "PostgreSQL: the server" "$(severity version) $(found role) $(severity clock)" "ok ok primary ok"
is "without fsync" "$(found fsync)" "critical off"
is "who waits is woken" "$(found waking)" "ok by LISTEN"
is "the role" "$(found locks)" "ok all that is needed"
is "notices" "$(found notices)" "ok 0 % of the queue"
is "the extension" "$(severity extension)" ok
is "without a database nobody checks the fence" "$(found "the fence")" "warning is checked by nobody"
export RINGFENCE_PG="host=$test_host dbname=$test_database"
is "nothing is said twice of one database" "$(often version) $(often extension) $(often role)" "1 1 1"
is "but of two it is" \
    "$(RINGFENCE_URL="postgresql:///postgres?host=$test_host" often version)" 2
is "a database without the extension" \
    "$(RINGFENCE_URL="postgresql:///postgres?host=$test_host" severity extension)" critical
role=locker_$test_database
sql "CREATE ROLE $role LOGIN" >/dev/null
as_locker="postgresql://$role@/$test_database?host=$test_host"
is "a role that may not" "$(RINGFENCE_URL=$as_locker severity locks)" critical
sql "SELECT ringfence.grant_to('$role')" >/dev/null
is "and one that may" "$(RINGFENCE_URL=$as_locker severity locks)" ok
sql "DROP OWNED BY $role" >/dev/null
sql "DROP ROLE $role" >/dev/null
PGHOST=$test_host PGDATABASE=$test_database pooler_start "$TMPDIR/pooler"
pooled="postgresql:///$test_database?host=$TMPDIR/pooler&port=6432"
is "behind a pooler nobody is woken" "$(RINGFENCE_URL=$pooled severity waking)" notice
pooler_stop "$TMPDIR/pooler"
is "no server" "$(RINGFENCE_URL="postgresql:///x?host=$TMPDIR" severity "lock service")" critical
sql "SELECT ringfence.guard('job', 5000, 'x')" >/dev/null
is "heal finds nothing to do: a registry is never below itself" \
    "$(ringfence heal)" "1 looked at, 0 raised, 0 still below"

# ---- etcd ------------------------------------------------------------------

etcd_start "$TMPDIR/etcd" || exit 1
trap 'etcd_stop "$TMPDIR/etcd"; zookeeper_stop "$TMPDIR/zookeeper"; redis_stop "$TMPDIR"' EXIT
export RINGFENCE_URL=$etcd_url
is "etcd: version and role" "$(severity version) $(found role)" "ok ok leader"
is "one member is good to know" "$(found members)" "notice 1, named in the URL: 1"
is "no alarm, all permissions" "$(found alarms), $(found permissions)" "ok none, ok all that locks need"
is "in the clear, for anybody" "$(severity tls) $(severity user)" "notice notice"
is "nothing is left behind" "$(etcd_ask /v3/kv/range '{"key":"AA==","range_end":"AA=="}' | json '.kvs | length')" 0
is "nor a lease" "$(etcd_ask /v3/lease/leases '{}' | json '.leases | length')" 0
revision=$(etcd_ask /v3/kv/range '{"key":"eA=="}' | json .header.revision)
is "history" "$(severity compaction)" ok
etcd_ask /v3/kv/compaction "{\"revision\":\"$revision\"}" >compacted
is "that is compacted" "$(found compaction)" "ok yes"
is "numbers below the database" "$(severity counters)" warning
ok "the base that helps is named" prints '-> base=5000 or more in the URL' ringfence doctor
is "heal can't raise them" "$(code ringfence heal)" 1
is "but tells the base" "$(ringfence heal --json | json '.base, .left')" "5000
1"
ok "in words, too" prints '^ +base=5000$' ringfence heal
is "with it all is well" "$(RINGFENCE_URL="$etcd_url?base=5000" ringfence heal | tail -1)" \
    "2 looked at, 0 raised, 0 still below"
is "for the doctor, too" "$(RINGFENCE_URL="$etcd_url?base=5000" severity counters)" ok
is "and a lock is had and claimed" \
    "$(RINGFENCE_URL="$etcd_url?base=5000" ringfence run job -- ringfence guard --json | json .accepted)" true
is "what was retired counts as well" "$(sql "UPDATE ringfence.registry SET claimed_at = 'epoch'" >/dev/null
    sql "SELECT ringfence.retire('1 day')" >/dev/null
    ringfence heal --json | json '.base > 5000, .below[0].resource' | xargs)" "true what was retired"
member=$(etcd_ask /v3/maintenance/status '{}' | json .header.member_id)
etcd_ask /v3/maintenance/alarm "{\"action\":\"ACTIVATE\",\"memberID\":\"$member\",\"alarm\":\"NOSPACE\"}" >alarm
is "an alarm" "$(found alarms)" "critical NOSPACE"
is "no lock is granted then" "$(severity permissions)" critical

# ---- ZooKeeper ---------------------------------------------------------------

zookeeper_start "$TMPDIR/zookeeper" || exit 1
export RINGFENCE_URL=$zookeeper_url
is "ZooKeeper: version and role" "$(severity version) $(found role)" "ok ok standalone"
is "one server is good to know" "$(found members)" "notice 1, named in the URL: 1"
is "all permissions" "$(found permissions)" "ok all that locks need"
is "sessions" "$(found sessions)" "ok 1000 ms when asked for 1000, 40000 ms at the most"
is "in the clear, for anybody" "$(severity tls) $(found rights)" "notice notice 1 of 1 folders open to anybody"
is "a folder that was made without a user" \
    "$(RINGFENCE_URL="zookeeper://app:x@${zookeeper_url#*//}" found rights)" "warning 1 of 1 folders open to anybody"
sql "SELECT ringfence.guard('job', 8000000000000000, 'x')" >/dev/null
is "numbers below the database" "$(severity counters)" warning
is "and the base that helps" "$(remedy counters)" \
    "base=8000000000000000 or more in the URL; ringfence heal looks at all and tells it"
export RINGFENCE_URL="$zookeeper_url?base=8000000000000000"
is "with which they are not" "$(severity counters)" ok
is "but near the end of all numbers" "$(severity numbers)" warning
zookeeper_stop "$TMPDIR/zookeeper"
is "no server" "$(severity "lock service")" critical
zookeeper_start "$TMPDIR/zookeeper" maxSessionTimeout=20000 || exit 1
export RINGFENCE_URL=$zookeeper_url
is "sessions that are shorter than most locks" "$(severity sessions)" notice
