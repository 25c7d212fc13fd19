# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# conductor.sh - runs the workers and makes the accidents (to be sourced)
#
# It hands buyers to workers, plays the price service that each worker asks
# between its read and its write, and tells what happens.  A worker that waits
# for its price is at a known place: stopping it there leaves nothing to luck.
# No story is told by time: every step waits for what workers say, with limits.

WORKERS=6
BUYERS=200
TTL_MS=1000
LIMIT=15 # seconds that any single wait may take

# Of each worker: what it was told and said last.
declare -A PID=() ORDERS=() BUYER=() READ=() FENCE=() OUTCOME=() IDLE=()
declare -A REFUSAL=() LATE=()
declare -A ANSWER=() # buyer => sold, sold out

# ---- Telling ---------------------------------------------------------------

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    BOLD=$'\e[1m' RED=$'\e[31m' GREEN=$'\e[32m' DIM=$'\e[2m' PLAIN=$'\e[0m'
else
    BOLD='' RED='' GREEN='' DIM='' PLAIN=''
fi

title() { printf '\n%s%s%s\n' "$BOLD" "$*" "$PLAIN"; }
now_us() { printf '%s' "${EPOCHREALTIME/[.,]/}"; }

# tell TEXT...: a line of the timeline, seconds since the run began before it.
tell() {
    local cs=$((($(now_us) - BEGAN_US) / 10000))
    printf '%s%3d.%02d s%s  %s\n' "$DIM" $((cs / 100)) $((cs % 100)) \
        "$PLAIN" "$*"
}
more() { printf '          %s\n' "$*"; }
bad() { more "$RED$*$PLAIN"; }
# good TEXT...: as long as it takes, so folded.
good() {
    fold -s -w 68 <<<"$*" | while IFS= read -r line; do
        more "$GREEN${line% }$PLAIN"
    done
}

# who W: how a worker is called, with its fence where there is one.
who() {
    if [ "${FENCE[$1]:-0}" = 0 ]; then
        printf 'worker %s' "$1"
    else
        printf 'worker %s (fence %s)' "$1" "${FENCE[$1]}"
    fi
}

give_up() {
    echo "demo: $*" >&2
    exit 1
}

# ---- Workers ---------------------------------------------------------------

# Even workers write in plain SQL, odd ones through the library.
style_of() { if (($1 % 2)); then echo library; else echo sql; fi; }

# A worker goes with the conductor, even when it is stopped and can't notice.
start_worker() {
    local w=$1 fd
    mkfifo "$DIR/orders.$w"
    PGAPPNAME="worker $w" setpriv --pdeathsig KILL -- \
        "$PROGRAM" "$RUN" "$URL" "$TTL_MS" "$(style_of "$w")" "$w" \
        <"$DIR/orders.$w" >"$DIR/events" &
    PID[$w]=$!
    exec {fd}>"$DIR/orders.$w"
    ORDERS[$w]=$fd
}

start_workers() {
    local w
    mkfifo "$DIR/events"
    exec {EVENTS}<>"$DIR/events"
    for ((w = 1; w <= WORKERS; w++)); do start_worker "$w"; done
}

# Stopped ones too: only SIGKILL ends a process that is stopped.
kill_workers() {
    local w
    for w in "${!PID[@]}"; do
        kill -KILL "${PID[$w]}" 2>/dev/null
        wait "${PID[$w]}" 2>/dev/null
    done
    PID=()
}

end_workers() {
    local w fd
    for w in "${!ORDERS[@]}"; do
        fd=${ORDERS[$w]}
        echo end >&"$fd"
        wait "${PID[$w]}" || give_up "worker $w failed"
        exec {fd}>&-
        rm "$DIR/orders.$w"
    done
    exec {EVENTS}>&-
    rm "$DIR/events"
    PID=() ORDERS=()
}

# The price service: the fewer are left, the dearer they are.
price() { order "$1" $((10 + (100 - READ[$1]) / 10)); }

order() { echo "$2" >&"${ORDERS[$1]}"; }

# ---- What workers say --------------------------------------------------------

# give W: the next buyer, unless the door is closed or all are served.
give() {
    IDLE[$1]=1
    [ "$DOOR" = open ] && ((NEXT <= BUYERS)) || return 0
    IDLE[$1]=''
    BUYER[$1]=$NEXT
    order "$1" "buyer $((NEXT++))"
}

open_door() {
    local w
    DOOR=open
    for ((w = 1; w <= WORKERS; w++)); do
        [ -z "${IDLE[$w]:-}" ] || give "$w"
    done
}

# on_read W LEFT: answer with a price, unless this worker is wanted for a story.
on_read() {
    READ[$1]=$2
    case $CATCH in
        any) ;;
        "$(style_of "$1")") ;;
        *)
            price "$1"
            return
            ;;
    esac
    CATCH=''
    CAUGHT=$1
}

on_answer() {
    ANSWER[$2]=$3
    OUTCOME[$1]=$3
    ((++SERVED))
}

on_event() {
    local w=$1 event=$2
    shift 2
    case $event in
        lock) HOLDER=$w FENCE[$w]=$1 ;;
        read) on_read "$w" "$1" ;;
        sold)
            ((++SOLD))
            LEFT=$2
            on_answer "$w" "$1" sold
            ;;
        found) on_answer "$w" "$1" sold ;;
        soldout) on_answer "$w" "$1" 'sold out' ;;
        refused)
            shift 2
            REFUSAL[$w]=$*
            OUTCOME[$w]=refused
            ;;
        late) LATE[$w]=1 ;;
        nolock) ((++NOLOCK)) ;;
        idle) give "$w" ;;
        *) give_up "worker $w: $event $*" ;;
    esac
}

# hear: act on the next line, or do nothing for a moment.  The time may be over
# in the middle of a line, so what has been read of it is kept.
hear() {
    local part='' words
    if IFS= read -r -t 0.05 -u "$EVENTS" part; then
        read -r -a words <<<"$HEARD$part"
        HEARD=''
        on_event "${words[@]}"
    else
        HEARD+=$part
    fi
}

# until_true CONDITION...: follow the events until it holds.
until_true() {
    local until_us=$(($(now_us) + LIMIT * 1000000))
    until "$@"; do
        (($(now_us) < until_us)) || give_up "waited in vain: $*"
        hear
    done
}

caught() { [ -n "$CAUGHT" ]; }
has_outcome() { [ -n "${OUTCOME[$1]:-}" ]; }
is_idle() { [ -n "${IDLE[$1]:-}" ]; }
sold_at_least() { ((SOLD >= $1)); }
all_served() { ((SERVED >= BUYERS)); }
other_has_lock() { [ "$HOLDER" != "$1" ]; }
others_idle() {
    local w
    for ((w = 1; w <= WORKERS; w++)); do
        [ "$w" = "$1" ] || is_idle "$w" || return 1
    done
}
all_idle() { others_idle none; }
is_stopped() {
    local stat
    read -r stat <"/proc/${PID[$1]}/stat" && [[ $stat == *') T '* ]]
}

# ---- Accidents ---------------------------------------------------------------

# catch STYLE: the next worker of that style to have read; in CAUGHT.
catch() {
    CAUGHT='' CATCH=$1
    until_true caught
    OUTCOME[$CAUGHT]='' REFUSAL[$CAUGHT]='' LATE[$CAUGHT]=''
}

# freeze W: SIGSTOP between read and write.  The price arrives meanwhile.
freeze() {
    tell "$(who "$1") holds the lock and reads ${READ[$1]} left"
    kill -STOP "${PID[$1]}"
    until_true is_stopped "$1"
    price "$1"
    tell "worker $1 is stopped (SIGSTOP) before it writes"
}

# thaw W: let it go on, and tell what becomes of its write.
thaw() {
    local w=$1 truly=$LEFT
    kill -CONT "${PID[$w]}"
    until_true has_outcome "$w"
    case ${OUTCOME[$w]} in
        sold) tell_written "$w" "$truly" ;;
        *) tell_refused "$w" ;;
    esac
}

# tell_written W TRULY: it wrote LEFT; what the stock said before tells what
# that is worth.
tell_written() {
    local gone=$((READ[$1] - $2))
    tell "worker $1 wakes up and writes $LEFT left, from its read of ${READ[$1]}"
    ((gone == 0)) || bad "the stock said $2: $gone sales are wiped out"
}

tell_refused() {
    local status sqlstate message detail
    IFS='|' read -r status sqlstate message detail <<<"${REFUSAL[$1]}"
    if [ "$status" = RF_UNKNOWN ] || [ "$status" = RF_RETRY ]; then
        tell "worker $1 wakes up and writes: $status"
        more "${sqlstate:+$sqlstate }$message"
        more 'so it looks into the ledger before it writes again'
    elif [ -n "$detail" ]; then
        tell "worker $1 wakes up and writes with fence ${FENCE[$1]}: refused"
        good "PostgreSQL: $sqlstate $message"
        good "DETAIL: $detail"
    elif [ -n "$sqlstate" ]; then
        tell "worker $1 wakes up and writes with fence ${FENCE[$1]}: $status"
        good "$message"
    else
        tell "worker $1 wakes up, looks at its clock and sends nothing: $status"
        good "$message"
    fi
}

# aftermath W: what else happens to a worker whose write was told.
aftermath() {
    local outcome=${OUTCOME[$1]}
    until_true is_idle "$1"
    [ -z "${LATE[$1]}" ] || [ "$outcome" = refused ] ||
        bad 'at its release it learns that the lock was no longer its own'
    [ "$outcome" != refused ] ||
        tell "buyer ${BUYER[$1]} is served by a new section of $(who "$1"):" \
            "${ANSWER[${BUYER[$1]}]}"
}

# others_sell W WHY [HOW]: another gets the lock, and all who are waiting sell.
# HOW tells how its number came to be above that of W.
others_sell() {
    local before=$SOLD
    until_true other_has_lock "$1"
    tell "$2; $(who "$HOLDER") gets the lock"
    ((${FENCE[$HOLDER]} <= ${FENCE[$1]})) || ${3:-:} "$1"
    DOOR=closed
    until_true others_idle "$1"
    tell "the others sell $((SOLD - before)): $LEFT left"
}

# The lock runs out while its holder is stopped; others sell meanwhile.
accident_pause() {
    catch "$1"
    freeze "$CAUGHT"
    others_sell "$CAUGHT" "the lock of worker $CAUGHT has run out"
    thaw "$CAUGHT"
    aftermath "$CAUGHT"
    open_door
}

# As before, but it wakes up when the new holder has read and not yet written:
# no newer write is there to be compared with.
accident_between() {
    local old new
    catch "$1"
    old=$CAUGHT
    freeze "$old"
    catch any
    new=$CAUGHT
    DOOR=closed
    tell "the lock of worker $old has run out; $(who "$new") gets the lock"
    more "and reads ${READ[$new]} left; it has written nothing so far"
    thaw "$old"
    price "$new"
    until_true has_outcome "$new"
    tell "worker $new writes $((READ[$new] - 1)) left, from its read of ${READ[$new]}"
    [ "${OUTCOME[$old]}" != sold ] ||
        bad "the sale of worker $old is wiped out"
    aftermath "$old"
    open_door
}

# Redis forgets everything while a holder is in its section.
accident_amnesia() {
    catch "$1"
    freeze "$CAUGHT"
    NOLOCK=0
    "$2"
    tell "$3"
    others_sell "$CAUGHT" 'the lock is forgotten' tell_from_one
    ((NOLOCK == 0)) ||
        more "($NOLOCK times a worker found no Redis, and asked again)"
    thaw "$CAUGHT"
    aftermath "$CAUGHT"
    open_door
}

# The connection to the database is cut: the writer can't tell what landed.
accident_cut() {
    catch "$1"
    freeze "$CAUGHT"
    DOOR=closed
    cut_connection "$CAUGHT"
    tell "PostgreSQL ends the connection of worker $CAUGHT"
    thaw "$CAUGHT"
    aftermath "$CAUGHT"
    open_door
}

cut_connection() {
    PGOPTIONS='' psql -X -q -v ON_ERROR_STOP=1 -o /dev/null -c "
        SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE application_name = 'worker $1'" || give_up 'no cut'
}

# Redis comes back from a snapshot that is one lock old, so it gives the number
# of the holder in its section to somebody else as well.
accident_snapshot() {
    local old=2
    DOOR=closed
    until_true all_idle
    redis-cli -s "$DIR/redis.sock" save >/dev/null
    tell 'Redis writes a snapshot'
    DOOR=open CATCH=any CAUGHT=''
    give "$old"
    DOOR=closed
    until_true caught
    OUTCOME[$old]='' REFUSAL[$old]='' LATE[$old]=''
    freeze "$old"
    redis_stop "$DIR" && redis_start "$DIR"
    tell 'Redis is restarted from its snapshot'
    open_door
    others_sell "$old" 'the lock is forgotten' tell_twice
    thaw "$old"
    aftermath "$old"
    open_door
}

tell_from_one() {
    more "Redis has lost its counter: PostgreSQL is asked, and says ${FENCE[$1]}"
}

# Seen nowhere but in the server's log: the library heals it by itself.
tell_twice() {
    grep -q '^RF002 ' "$DIR/pg/postgres.log" || give_up 'no number came twice'
    more "Redis gave out fence ${FENCE[$1]} again: refused at the claim (RF002), raised"
}

flush_redis() { redis-cli -s "$DIR/redis.sock" flushall >/dev/null; }
restart_empty() {
    redis_stop "$DIR"
    rm -f "$DIR/dump.rdb"
    redis_start "$DIR"
}

# ---- The run -----------------------------------------------------------------

# after_a_while STORY ACCIDENT...: a few are sold in peace, then it happens.
after_a_while() {
    until_true sold_at_least $((SOLD + 3 + RANDOM % 4))
    printf '\n%s:\n' "$1"
    shift
    "$@"
}

# A database that forgets has lost the data as well.
conduct_forgetting() {
    after_a_while 'Redis is flushed while a holder is at work' \
        accident_amnesia sql flush_redis 'Redis is flushed'
    after_a_while 'Redis comes back from a snapshot that is one lock old' \
        accident_snapshot
    after_a_while 'Redis comes back without its data' \
        accident_amnesia library restart_empty 'Redis is restarted, empty'
}

# conduct RUN SEED: the same work and the same accidents, whatever the RUN.
conduct() {
    RUN=$1 RANDOM=$2
    BEGAN_US=$(now_us)
    NEXT=1 SERVED=0 SOLD=0 LEFT=100 HOLDER='' CATCH='' CAUGHT='' NOLOCK=0 HEARD=''
    READ=() FENCE=() OUTCOME=() IDLE=() BUYER=() ANSWER=()
    DOOR=open
    start_workers
    after_a_while 'A holder stops for longer than its lock lives' \
        accident_pause sql
    after_a_while 'Once more' accident_pause library
    after_a_while 'It wakes up before the next holder has written anything' \
        accident_between sql
    after_a_while 'A connection to PostgreSQL is cut' accident_cut library
    [ "$SOURCE" != redis ] || conduct_forgetting
    until_true all_served
    until_true all_idle
    end_workers
    echo
    tell "all $BUYERS buyers have an answer"
}

# promises: what the buyers were told, a line each.
promises() {
    local buyer
    for buyer in "${!ANSWER[@]}"; do
        printf '%s\t%s\n' "$buyer" "${ANSWER[$buyer]}"
    done
}
