#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# The command with a ZooKeeper: run, list, inspect, force-release, doctor and heal
# do what they do elsewhere; acquire and what follows it can't.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"
# shellcheck source=tests/lib/zookeeper.sh
. "$RF_ROOT/tests/lib/zookeeper.sh"

mkdir zookeeper
zookeeper_start "$TMPDIR/zookeeper" || exit 1
trap 'zookeeper_stop "$TMPDIR/zookeeper"; redis_stop "$TMPDIR"' EXIT
export RINGFENCE_URL=$zookeeper_url
state() { ringfence inspect "$1" --json | json .state; }

plan 12

is "held while its command runs, and by nobody else" \
    "$(ringfence run job -- sh -c 'ringfence inspect job --json | jq -r .state; ringfence run job -- true 2>/dev/null; echo $?' | xargs)" \
    "held 101"
is "and free afterwards" "$(state job)" free
is "list shows it" "$(ringfence run job -- ringfence list --json | json '.[].resource')" job
is "a lock that is taken away ends its command" "$(
    ringfence run job --ttl 900ms -- sh -c '
        ringfence force-release job --fence "$(ringfence inspect job --json | jq .fence)" --reason test >/dev/null
        exec sleep 60' 2>/dev/null
    echo $?
)" 103
is "acquire is refused" "$(code ringfence acquire job)" 109
ok "and says what to do instead" says 'use "ringfence run"' ringfence acquire job
is "nothing was taken" "$(state job)" free
is "a grant can't be gone on with" "$(RINGFENCE_RESOURCE=job RINGFENCE_FENCE=1 \
    RINGFENCE_HOLDER=00000000000000000000000000000000 code ringfence renew)" 109
is "with a database it claims" \
    "$(with_database ringfence run job -- sh -c 'echo "$RINGFENCE_FENCE"')" \
    "$(sql "SELECT fence FROM ringfence.registry WHERE resource = 'job'")"
is "heal finds nothing below" "$(with_database ringfence heal job)" "1 looked at, 0 raised, 0 still below"
sql "SELECT ringfence.guard('job', 9000000000000000, 'x')" >/dev/null
is "and after a rebuild the base that is needed" \
    "$(with_database ringfence heal --json job 2>/dev/null | json .base)" 9000000000000000
is "with which there is work again" \
    "$(RINGFENCE_URL="$zookeeper_url?base=9000000000000000" with_database ringfence run job -- echo finished)" finished
