#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# The pages for people, made of small recordings: each write has one sign, of
# the right kind; the page stands alone and is well-formed; names do no harm.
# PostgreSQL's own XML parser looks at it.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"

plan 21

page=$RF_ROOT/tests/drills/report/page
evil='<script>alert("x")</script>&'"'w'"
line() { (IFS=$'\t' && echo "$*"); }

# ---- A recording: two runs of one drill -------------------------------------------

drill() {
    line drill '07-<b>&"'
    line seed 1
    line story "$evil"
    line weakened guard
    line verdict ok 'as it must be'
    line run guarded
    line event 1000 world clock 1700000001000
    line event 1010 "$evil" begins 1
    line event 1020 "$evil" granted a 1 aaaaaaaa
    line event 1021 "$evil" believes a 1 aaaaaaaa 1015
    line event 1022 "$evil" stops write
    line event 1100 world happens "$evil"
    line event 1110 world continued second
    line event 1500 second granted a 2 bbbbbbbb
    line event 1501 second believes a 2 bbbbbbbb 1490
    line event 1510 second told "s-1$(printf '\x01\xff')" 'done' RF_OK
    line event 1520 second told s-2 unknown RF_UNKNOWN
    line event 1530 second told s-3 unknown RF_UNKNOWN
    line event 1540 second told s-4 'done' RF_OK
    line event 1590 "$evil" 'goes on' write
    line event 1600 "$evil" told "$evil" refused RF_STALE
    line event 1610 third acquire RF_BUSY 'somebody has it'
    line event 1620 third acquire RF_STALE 'too late'
    line commit 1 1700000001508 a "s-1$(printf '\x01\xff')" '' 2 bbbbbbbb
    line commit 2 1700000001518 a s-2 "s-1$(printf '\x01\xff')" 2 bbbbbbbb
    line commit 3 1700000001700 a by-hand-1 s-2 3 cccccccc
    line belief a aaaaaaaa 1015 1600
    line belief a bbbbbbbb 1490 1530
    line run weakened
    line violation 'I1: f-1 commits with fence 1 after 2'
    line event 5000 world clock 1700000005000
    line event 5010 first granted a 1 aaaaaaaa
    line event 5020 second granted a 2 bbbbbbbb
    line event 5030 second told s-1 'done' RF_OK
    line event 5040 first told f-1 'done' RF_OK
    line commit 1 1700000005029 a s-1 '' 2 bbbbbbbb
    line commit 2 1700000005039 a f-1 '' 1 aaaaaaaa
}
drill >"$TMPDIR/07.tsv"
"$page" drills "$TMPDIR/07.tsv" >"$TMPDIR/report.html" 2>"$TMPDIR/said"

# xpath EXPRESSION: what it finds in the page, or an error; "$at" is the page.
at=$TMPDIR/report.html
query() {
    psql -X -q -A -t -v ON_ERROR_STOP=1 -c 'SET xmloption = document' \
        -v page="$(cat "$at")" -v path="$1" -f - <<<"$2" 2>&1
}
xpath() {
    query "$1" "SELECT array_to_string(xpath(:'path', :'page'::xml,
        '{{h,http://www.w3.org/1999/xhtml}}'), ' ')"
}
drawn() {
    xpath "count(//*[@class='picture']//*[local-name()='rect'][@class='$1'])"
}
signs() { xpath "count(//*[local-name()='g'][@class='write $1'])"; }
well_formed() {
    query '' "SELECT xml_is_well_formed_document(:'page')"
}

# ---- What must be on it -----------------------------------------------------------

is "no line of the recording is a surprise" "$(cat "$TMPDIR/said")" ""
is "the page is well-formed" "$(well_formed)" t
is "each write has one sign" \
    "$(xpath "count(//*[local-name()='g'][starts-with(@class,'write ')])")" 8
is "one was acknowledged and is not there" "$(signs gone)" 1
is "three were accepted" "$(signs accepted)" 3
is "one was refused" "$(signs refused)" 1
is "one had landed although its answer was lost" "$(signs landed)" 1
is "one had not" "$(signs lost)" 1
is "one was accepted and wrong" "$(signs wrong)" 1
is "a refused claim and a lock in vain are signs of another kind" \
    "$(xpath "count(//*[local-name()='g'][@class='lesser'])")" 2
is "each grant that was acted on has its bar" \
    "$(drawn belief)" 2
is "a sleeper's bar is marked" "$(drawn pause)" 1
is "so is the time at which two believed" "$(drawn overlap)" 1
is "a sign tells resource, fence and holder" "$(xpath "string(//*[@class=
    'write wrong']/*[local-name()='title'])")" \
    '0.04 s: first writes f-1 to a with fence 1 of holder aaaaaaaa: accepted, and wrong: its fence 1 is below 2; it had not read the write before it'
is "what a name contains is text" "$(xpath "count(//*[local-name()='b'][
    starts-with(., '<script>alert(\"x\")</script>&')])")" 1
is "and never an element" "$(xpath "count(//*[local-name()='script'])")" 0
ok "bytes that are no text are written out" grep -qF 's-1\x01\xff' "$at"
ok "nothing is fetched from elsewhere" \
    bash -c "! grep -nE '(src|srcset|@import|https?:|url\\([^#])' '$at'"

# ---- A soak -------------------------------------------------------------------------

soak() {
    line soak '1 minutes, seed 1: 5 operations'
    local pair
    for pair in minutes=1 seed=1 workers=6 operations=1234567 faults=2 \
        overlaps=3 refused=4 unknown=0 landed=0 accepted="$1" lost=0; do
        line "${pair%=*}" "${pair#*=}"
    done
    line span 60000
    line told 1 'done' RF_OK 5
    line told 100 refused RF_STALE 4
    line happened 50 '<b>flushed' 2
    line overlap 50 3
}
soak 0 >"$TMPDIR/soak.tsv"
at=$TMPDIR/soak.html
"$page" soak "$TMPDIR/soak.tsv" >"$at"
is "a soak's page is well-formed" "$(well_formed)" t
is "and has a column for each slice in which something was" \
    "$(xpath "count(//*[local-name()='rect'])")" 4
soak 1 >"$TMPDIR/soak.tsv"
"$page" soak "$TMPDIR/soak.tsv" >"$at"
is "a stale write that was accepted is its headline" \
    "$(xpath "string(//*[local-name()='h1'])")" 'Soak: something broke'
