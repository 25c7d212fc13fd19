#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Whatever is wrong: one line on standard error that says what it is and what to
# do, nothing on standard output, and the exit code of the table.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"

# refused CODE PATTERN COMMAND...
refused() {
    local code=$1 pattern=$2 status=0
    shift 2
    "$@" >out 2>err </dev/null || status=$?
    echo "exit code $status, said:"
    cat out err
    grep -qxE "$code" <<<"$status" && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] &&
        grep -qE -- "$pattern" err
}

# A port that answers every connection with one line, and one that says nothing.
listen() {
    perl -MIO::Socket::INET -e '
        $SIG{ALRM} = sub { exit }; alarm 250;
        my $s = IO::Socket::INET->new(Listen => 9, LocalAddr => "127.0.0.1")
            or die;
        open my $out, ">", $ARGV[0] or die; print $out $s->sockport; close $out;
        while (my $c = $s->accept) {
            push @open, $c;
            $c->autoflush(1);
            print $c $ARGV[1] if $ARGV[1];
        }' "$@" &
}
listen web "HTTP/1.1 400 Bad Request"$'\r\n\r\n'
web=$!
listen mute ""
mute=$!
trap 'kill $web $mute; redis_stop "$TMPDIR"' EXIT
until_true test -s web -a -s mute

plan 61

# ---- Words -----------------------------------------------------------------

ok "a command that is none" refused 109 'no command "nonsense"' ringfence nonsense
ok "an option that is none" refused 109 'no such option: --nonsense; see "ringfence list --help"' \
    ringfence list --nonsense
ok "another command's option" refused 109 'no such option: --ttl' ringfence list --ttl 3s
ok "a value that is missing" refused 109 'a value is missing: --ttl' ringfence acquire job --ttl
ok "a resource that is missing" refused 109 'something is missing: RESOURCE' ringfence inspect
ok "too many words" refused 109 'too much: b' ringfence inspect a b
ok "no command after --" refused 109 'no command: it stands after --' ringfence run job true
ok "an empty command" refused 109 'no command' ringfence run job --
for time in 5 x 1.5s -1s 99999999999999999999s 10d "" "5 s"; do
    ok "a time that is none: '$time'" refused 109 'write 500ms, 30s, 5m or 2h' \
        ringfence acquire job "--ttl=$time"
done
ok "a TTL that is too long" refused 109 'ttl_ms must be from 1' ringfence acquire job --ttl 25h
ok "a TTL of nothing" refused 109 'ttl_ms must be from 1' ringfence acquire job --ttl 0s
ok "a wait that is too long" refused 109 'wait_ms must be' ringfence acquire job --wait 25h
ok "a resource without a name" refused 109 'has no name' ringfence acquire ""
ok "one with a line end" refused 109 'control character' ringfence acquire $'a\nb'
ok "one that is no UTF-8" refused 109 'not valid UTF-8' ringfence acquire $'\xff'
ok "a prefix that can't be one" refused 109 'option prefix' ringfence list --prefix '{}'
is "-- ends the options" "$(ringfence inspect --json -- --json | json .resource)" --json

# ---- The lock service ------------------------------------------------------

ok "nowhere to look" refused 109 'where are the locks\?' env -u RINGFENCE_URL ringfence list
ok "a URL that is none" refused 109 'URL of the lock service' ringfence list --url nonsense
ok "nobody there" refused 107 'refused|No such file' ringfence list --url redis+unix:///nonexistent
for command in "inspect job" "acquire job --wait 20s" "run job -- true" list \
    "watch --count 1"; do
    # shellcheck disable=SC2086 # words
    ok "a server that is not Redis: ${command%% *}" refused 109 \
        "127.0.0.1:[0-9]+ does not speak the Redis protocol .another server's port" \
        env RINGFENCE_URL="redis://127.0.0.1:$(cat web)" ringfence $command
done
ok "PostgreSQL's port" refused 107 'broke off without a word .is it Redis' \
    ringfence list --url "redis+unix://$test_host/.s.PGSQL.5432"
ok "a cluster that is not one" refused 109 'does not speak the Redis protocol' \
    ringfence list --url "redis+cluster://127.0.0.1:$(cat web)"
ok "an etcd that is not one" refused 107 'etcd: ' \
    ringfence list --timeout 500ms --url "etcd://127.0.0.1:$(cat web)"
ok "a PostgreSQL that is not one" refused 107 'connection to server .* failed' \
    ringfence list --url "postgresql://127.0.0.1:$(cat web)/x?connect_timeout=2"
ok "a database that has no locks" refused 109 'CREATE EXTENSION ringfence' \
    ringfence list --url "postgresql:///postgres?host=$test_host"
ok "nor gives any" refused 109 'CREATE EXTENSION ringfence' \
    ringfence acquire job --url "postgresql:///postgres?host=$test_host"
redis SET '{lock:v1:forgotten}' x >/dev/null
ok "a lock that is held for ever" refused 101 'never runs out; look with "ringfence inspect"' \
    ringfence run forgotten -- true
ok "also after waiting for it" refused 102 'never runs out; look with "ringfence inspect"' \
    ringfence acquire forgotten --wait 100ms
redis DEL '{lock:v1:forgotten}' >/dev/null
ok "one that never answers" refused '10[67]' 'no answer|not answer|time' \
    ringfence inspect job --timeout 300ms --url "redis://127.0.0.1:$(cat mute)"
redis CONFIG SET requirepass secret >/dev/null
ok "no password" refused 109 'wants a password, in the URL .NOAUTH' ringfence list
ok "a wrong password" refused 109 'user or password of the URL is wrong .WRONGPASS' \
    env RINGFENCE_URL="redis+unix://:wrong@$TMPDIR/redis.sock" ringfence list
is "the right one" "$(RINGFENCE_URL="redis+unix://:secret@$TMPDIR/redis.sock" code ringfence list)" 0
redis -a secret --no-auth-warning CONFIG SET requirepass '' >/dev/null

# ---- The database ----------------------------------------------------------

in_database() { RINGFENCE_PG="host=$test_host $1" ringfence acquire job; }
ok "no server" refused 107 'PostgreSQL: .*is it running' \
    env RINGFENCE_PG="host=$TMPDIR" ringfence acquire job
ok "no such database" refused 109 'PostgreSQL: .*look at the user and the database' \
    in_database "dbname=nonexistent"
ok "one whose name would steer the terminal" refused 109 'database "x\?\[31m\?y" does' \
    in_database "dbname='"$'x\e[31m\u202ey'"'"
ok "no conninfo" refused 109 'PostgreSQL: ' in_database "nonsense"
ok "no extension" refused 109 'database "postgres" has no extension ringfence; .*CREATE EXTENSION ringfence' \
    in_database "dbname=postgres"
sql "UPDATE pg_extension SET extversion = '0.0.9' WHERE extname = 'ringfence'"
ok "an older extension" refused 109 'is 0.0.9, older than .*ALTER EXTENSION ringfence UPDATE' \
    in_database "dbname=$test_database"
sql "UPDATE pg_extension SET extversion = '0.10.0' WHERE extname = 'ringfence'"
is "a newer one is fine" "$(code in_database "dbname=$test_database")" 0
redis DEL '{lock:v1:job}' >/dev/null
sql "UPDATE pg_extension SET extversion = '0.1.0' WHERE extname = 'ringfence'"
role=cli_$test_database
sql "CREATE ROLE $role LOGIN"
ok "no privilege" refused 109 'ringfence.grant_to' \
    in_database "dbname=$test_database user=$role"
sql "SELECT ringfence.grant_to('$role')" >/dev/null
is "with it, fine" "$(code in_database "dbname=$test_database user=$role")" 0
sql "DROP OWNED BY $role; DROP ROLE $role"
is "what was refused left no lock behind" "$(redis KEYS '*}' | wc -w)" 1

# ---- Output ----------------------------------------------------------------

ok "a full disk" refused 111 'could not be written .No space left' \
    sh -c 'ringfence list >/dev/full'
# The reader is gone before anything is written.
ok "a reader that has gone" refused 111 'could not be written .Broken pipe' \
    bash -c 'exec 3> >(exit 0); wait $!; ringfence list >&3'
ok "a full disk under a command that does something" refused 111 'No space left' \
    sh -c 'ringfence acquire full >/dev/full'
is "which gives back what nobody would know of" "$(redis EXISTS '{lock:v1:full}')" 0
ok "a reader of watch that has gone, while nothing changes" refused 111 'Broken pipe' \
    timeout 20 bash -c 'exec 3> >(exit 0); wait $!; ringfence watch --every 50ms no-such-job >&3'
ok "no standard output at all" refused 111 'could not be written' \
    sh -c 'ringfence list >&-'
is "help has no trouble" "$(code ringfence --help) $(code ringfence run --help)" "0 0"
