#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Where the settings come from, and that a password stands neither on a command
# line, nor in a file that others can read, nor in what is said.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"

redis CONFIG SET requirepass hunter2 >/dev/null
good=redis+unix://:hunter2@$TMPDIR/redis.sock
bad=redis+unix:///nonexistent
unset RINGFENCE_URL
mkdir -p "$HOME/.config"
file=$HOME/.config/ringfence

# write TEXT...: the user's file.
write() { printf '%s\n' "$@" >"$file"; }
refuses() { says "$@" && [ "$(code "${@:2}")" = 109 ]; }

plan 26

# ---- On the command line ---------------------------------------------------

for url in "$good" redis://me:hunter2@h redis+sentinel://h/m?sentinel=:hunter2 \
    redis+cluster://u:hunter2@a,b redlock://:hunter2@a,b,c; do
    ok "a password in ${url%%:*}:// is refused" refuses \
        'a password on the command line can be read .*RINGFENCE_URL' \
        ringfence list --url "$url"
done
for conninfo in password=hunter2 postgresql://me:hunter2@h/db \
    'postgresql:///db?password=hunter2' 'nonsense password'; do
    ok "and in ${conninfo%%[=:]*}" refuses \
        'a password on the command line can be read .*PGPASSWORD' \
        ringfence acquire job --pg "$conninfo"
done
is "the message doesn't repeat it" \
    "$(ringfence list --url "$good" 2>&1 | grep -c hunter2)" 0
is "a port is no password" \
    "$(code ringfence list --url "redis://127.0.0.1:1")" 107
is "nor is an IPv6 address" "$(code ringfence list --url "redis://[::1]:1")" 107

# ---- In the environment and the file ---------------------------------------

is "the environment" "$(RINGFENCE_URL=$good code ringfence list)" 0
write "url = $good" "# a comment" "" "prefix = mine:"
chmod 600 "$file"
is "the file" "$(code ringfence list)" 0
is "the prefix comes from there" \
    "$(ringfence acquire job >grant
        redis -a hunter2 --no-auth-warning KEYS '*}')" '{mine:job}'
is "the environment goes first" \
    "$(RINGFENCE_PREFIX=other: ringfence list | wc -l)" 1
is "and the command line before it" \
    "$(RINGFENCE_PREFIX=other: ringfence list --prefix mine: | wc -l)" 2
chmod 640 "$file"
if [ "$(id -u)" = 0 ]; then
    is "a group may be let in by root" "$(code ringfence list)" 0
else
    is "no group is let in" "$(code ringfence list)" 109
fi
chmod 604 "$file"
ok "a file that others can read is refused" refuses 'chmod 600' ringfence list
write "url = $bad"
is "unless there is no password in it" "$(code ringfence list)" 107
write "pg = password=hunter2"
ok "the database's counts, too" refuses 'chmod 600' ringfence list --url "$bad"
write "host = x"
ok "a line that is none is refused" refuses 'a line that is no setting' \
    ringfence list
rm "$file"
write "url = $good"
chmod 600 "$file"
XDG_CONFIG_HOME=$TMPDIR/xdg
mkdir xdg
mv "$file" xdg/ringfence
is "XDG_CONFIG_HOME is where it says" "$(XDG_CONFIG_HOME=$TMPDIR/xdg code ringfence list)" 0
is "--config names another" "$(code ringfence list --config xdg/ringfence)" 0
ok "which must be there" refuses 'No such file' ringfence list --config nowhere

# ---- While it runs ---------------------------------------------------------

RINGFENCE_URL=$good RINGFENCE_PG="host=$test_host dbname=$test_database password=hunter3" \
    ringfence run job -- sh -c 'cat /proc/[0-9]*/cmdline >lines 2>/dev/null; :'
is "no process shows a password in its command line" \
    "$(tr '\0' '\n' <lines | grep -c 'hunter[23]')" 0
