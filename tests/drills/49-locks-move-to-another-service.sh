# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: a team moves its locks from Redis to PostgreSQL alone, later to etcd; each time a holder of the old service is stopped in mid-section, and somebody goes on using that service because nobody told him.
# Holds: whoever claimed later writes, whatever service the number is from, and everybody before is refused; without its base etcd gives nothing that is accepted.
# Seen: commit order in the log of changes; what each was told.
# Overlap: yes
drill() {
    local base
    # shellcheck source=tests/lib/etcd.sh
    . "$RF_ROOT/tests/lib/etcd.sh"
    worker first ttl=60000 stop=write
    until_stopped "$first"
    happens "the locks are kept by PostgreSQL from now on"
    worker second url=postgresql:// ttl=60000 stop=write
    until_stopped "$second"
    go_on "$first"
    until_over "$first"
    worker untold ttl=20000 # by Redis: a number from long ago, raised at its claim
    until_over "$untold"
    go_on "$second"
    until_over "$second"
    worker third url=postgresql:// ttl=60000 stop=write
    until_stopped "$third"
    mkdir "$dir/etcd"
    etcd_start "$dir/etcd" || fail "no etcd"
    happens "the locks are kept by etcd from now on"
    # A number that etcd does not reach by itself for long.
    sql "SELECT ringfence.guard('a', 100000, 'by hand')"
    base=$(RINGFENCE_URL=$etcd_url RINGFENCE_PG=' ' HOME=$dir XDG_CONFIG_HOME='' \
        "$RF_BUILD/ringfence" heal | sed -n 's/^ *base=//p')
    worker baseless url="$etcd_url" ttl=20000
    until_over "$baseless"
    worker fourth url="$etcd_url?base=$base" ttl=20000
    until_over "$fourth"
    go_on "$third"
    until_over "$third"
    must "the base is what the database knows" test "$base" = 100000
    must "the new ones work" logged $'(untold|fourth)\ttold.*\tdone\t'
    if [ "$mode" = guarded ]; then
        must "the old ones are told so" \
            test "$(grep -cE $'(first|second|third)\ttold.*refused\tRF_STALE' "$dir/log")" = 3
        must "without its base there is no lock" logged $'baseless\tacquire\tRF_MISUSE'
    fi
    alive url="$etcd_url?base=$base"
    etcd_stop "$dir/etcd"
}
