# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# sessions.sh - several psql sessions side by side (to be sourced)
#
#   session NAME           start one
#   tell NAME SQL...       have it run these, without waiting for them
#   settle NAME            wait until it has run all it was told
#   finish NAME            end it, and wait for that
#   ask SQL                one answer from a session of its own
#   code_of NAME           SQLSTATE of its last error, or ""
#   last_of NAME           the last line that it answered
#   alive NAME             SQL: a row for as long as its server process lives
#   wait_until SQL         until this gives a row; half a minute at most

trap '' PIPE # a session that has been ended reads no more

declare -A session_fd session_pid

out() { echo "$TMPDIR/$1.out"; }

session() {
    local fd
    mkfifo "$TMPDIR/$1.in"
    (
        # Or the other sessions would not see the end of their input.
        for fd in "${session_fd[@]}"; do exec {fd}>&-; done
        PGAPPNAME=$1 exec psql -X -q -A -t -v VERBOSITY=sqlstate \
            <"$TMPDIR/$1.in" >"$(out "$1")" 2>"$TMPDIR/$1.err"
    ) &
    session_pid[$1]=$!
    exec {fd}>"$TMPDIR/$1.in"
    session_fd[$1]=$fd
}

tell() {
    local fd=${session_fd[$1]} sql
    shift
    # psql may have ended, with the session.
    for sql in "$@"; do
        { printf '%s;\n' "$sql" >&"$fd"; } 2>/dev/null || true
    done
}

settle() {
    local i mark=settled-$RANDOM
    tell "$1" "SELECT '$mark'"
    for ((i = 0; i < 600; i++)); do
        grep -qs "^$mark\$" "$(out "$1")" && return 0
        sleep 0.05
    done
    return 1
}

finish() {
    local fd=${session_fd[$1]}
    exec {fd}>&-
    unset "session_fd[$1]"
    wait "${session_pid[$1]}" 2>/dev/null
    return 0
}

ask() { psql -X -q -A -t -v VERBOSITY=sqlstate -c "$1" 2>&1; }

code_of() {
    sed -n 's/^.*\(ERROR\|FATAL\): *\([0-9A-Z]\{5\}\).*$/\2/p' "$TMPDIR/$1.err" |
        tail -n 1
}

last_of() { tail -n 1 "$(out "$1")"; }

alive() {
    echo "SELECT 1 FROM pg_stat_activity WHERE application_name = '$1'" \
        "AND datname = current_database()"
}

wait_until() {
    local i
    for ((i = 0; i < 600; i++)); do
        [ -z "$(ask "$1")" ] || return 0
        sleep 0.05
    done
    return 1
}
