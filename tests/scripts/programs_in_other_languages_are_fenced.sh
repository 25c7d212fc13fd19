#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# The examples in Python, Node and shell, with nothing but the published scripts,
# the command and SQL: a holder that is stopped in its section is refused, and a
# commit whose answer is lost is neither lost nor done twice.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/lib/redis.sh
. "$RF_ROOT/tests/lib/redis.sh"

dir=$(mktemp -d /tmp/rf.XXXXXX)
finish() {
    kill -KILL "${late:-}" "${proxy:-}" 2>/dev/null
    redis_stop "$dir"
    rm -rf "$dir"
}
trap finish EXIT
redis_start "$dir" || exit 1

# What the Node example needs, once; npm ci takes the versions of the lock file.
modules=$RF_BUILD/languages
if ! [ -d "$modules/node_modules/ioredis" ]; then
    rm -rf "$modules"
    mkdir -p "$modules"
    cp "$RF_ROOT"/examples/languages/package*.json "$modules"
    npm ci --prefix "$modules" --ignore-scripts --no-audit --no-fund \
        >"$dir/npm" 2>&1 || sed 's/^/# /' "$dir/npm"
fi
export NODE_PATH=$modules/node_modules

query() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
sell() {
    local program=$1
    shift
    case $program in
        python) set -- /usr/bin/python3 "$RF_ROOT/examples/languages/sell.py" "$@" ;;
        node) set -- node "$RF_ROOT/examples/languages/sell.js" "$@" ;;
    esac
    exec "$1" "$2" "$RF_ROOT/client/lua" "$dir/redis.sock" "${@:3}"
}
until_true() {
    local i
    for ((i = 0; i < 1500; i++)); do
        "$@" && return 0
        sleep 0.02
    done
    return 1
}
has_read() { grep -q reads "$dir/late"; }
sells() { (sell "$1" apple) >"$dir/next" 2>&1; }
stopped() { [ "$(cut -d' ' -f3 "/proc/$late/stat")" = T ]; }
left() { query -c "SELECT remaining FROM stock WHERE sku = 'apple'"; }

# story FIRST SECOND: one is stopped between its read and its write, and wakes
# up when the other has sold.
story() {
    local before
    before=$(left)
    (sell "$1" apple 1500) >"$dir/late" 2>&1 &
    late=$!
    until_true has_read || sed 's/^/# /' "$dir/late"
    kill -STOP "$late"
    until_true stopped
    ok "$2 gets the lock when it has run out, and sells" until_true sells "$2"
    kill -CONT "$late"
    wait "$late"
    is "$1 wakes up and is refused" $? 3
    is "by the database" "$(grep -c 'is refused: RF001' "$dir/late")" 1
    is "one was sold" "$((before - $(left)))" 1
}

plan 38
ok "what the Node example needs is to be had (npm)" \
    test -d "$modules/node_modules/ioredis"
[ -d "$modules/node_modules/ioredis" ] || exit 1
ok "the tables are created" query -f "$RF_ROOT/examples/stock.sql"
ok "Python sells" sells python
ok "Node sells" sells node
story python node
story node python
redis-cli -s "$dir/redis.sock" flushall >"$dir/said"
ok "with an empty Redis the next number comes from the database" sells python
is "and nothing was refused" "$(grep -c writes "$dir/next")" 1

# ---- A job of cron -------------------------------------------------------------------

query -c "CREATE TABLE nightly (day date, fence bigint);
    SELECT ringfence.protect('nightly', resource => 'job:nightly')" >"$dir/said"
export RINGFENCE_URL=redis+unix://$dir/redis.sock
PATH=$RF_BUILD:$PATH
job() { ringfence run job:nightly -- "$@" "$RF_ROOT/examples/languages/nightly.sh"; }
ok "a job runs under its lock" job
is "twice in a night it is done once" "$(job && query -c 'SELECT count(*) FROM nightly')" 1

# ---- Answers that are lost -----------------------------------------------------------

# In front of PostgreSQL.  Of the COMMITs that pass it cuts the n-th one off:
# "before" the server has it, or "after" the server has answered.
cat >"$dir/proxy.pl" <<'PERL'
use strict; use warnings; use IO::Select; use IO::Socket::UNIX;
my ($here, $there, $which, $when) = @ARGV;
local $SIG{ALRM} = sub { exit }; alarm 250;
my $listen = IO::Socket::UNIX->new(Local => $here, Listen => 9) or die;
my $commits = 0;
while (my $client = $listen->accept) {
    my $server = IO::Socket::UNIX->new(Peer => $there) or die;
    my $both = IO::Select->new($client, $server);
    my $cut = 0;
    TALK: while (1) {
        for my $from ($both->can_read) {
            sysread $from, my $data, 65536 or last TALK;
            my $commit = $from == $client && $data =~ /COMMIT/ && ++$commits;
            $cut = 1 if $commit == $which;
            last TALK if $cut && ($when eq "before" || $from == $server);
            syswrite $from == $client ? $server : $client, $data;
        }
    }
}
PERL
cut_at() { # WHICH WHEN
    mkdir "$dir/proxy"
    perl "$dir/proxy.pl" "$dir/proxy/.s.PGSQL.$PGPORT" "$PGHOST/.s.PGSQL.$PGPORT" "$@" &
    proxy=$!
    until_true test -S "$dir/proxy/.s.PGSQL.$PGPORT"
}
mended() {
    kill "$proxy"
    wait "$proxy"
    rm -r "$dir/proxy"
}
through() { (PGHOST=$dir/proxy "$@") >"$dir/next" 2>&1; }

# lost PROGRAM WHEN: of the section's two commits the second one writes.
lost() {
    local before
    before=$(left)
    cut_at 2 "$2"
    through sell "$1" apple 0 "an order of $1, $2"
    is "$1, cut off $2 the commit, ends well" $? 0
    mended
    is "one was sold" "$((before - $(left)))" 1
    is "it was in doubt once" "$(grep -c 'once more' "$dir/next")" 1
    is "and knows which" "$(grep -c 'was sold before' "$dir/next")" "$3"
}
for program in python node; do
    lost $program before 0
    lost $program after 1
done

nights() { query -c 'SELECT count(*) FROM nightly'; }
query -c "SELECT ringfence.expire_receipts('0 s')" >"$dir/said"
before=$(nights)
cut_at 1 after
# The command claims straight from the server.
job env PGHOST="$dir/proxy" >"$dir/next" 2>&1
is "a job that is cut off after its commit ends well" $? 0
mended
is "and is done once" "$(($(nights) - before))" 1

# ---- What else may come --------------------------------------------------------------

query -c "BEGIN; SELECT ringfence.guard('stock:pear', 1, 'x');
    INSERT INTO stock VALUES ('pear', 0, 1); COMMIT" >"$dir/said"
ends() {
    (sell "$@") >"$dir/next" 2>&1
    echo $?
}
is "Python: nothing is left" "$(ends python pear)" 2
is "Node: nothing is left" "$(ends node pear)" 2
redis_stop "$dir"
is "Python: no Redis, no lock" "$(ends python apple)" 1
is "Node: no Redis, no lock" "$(ends node apple)" 1
