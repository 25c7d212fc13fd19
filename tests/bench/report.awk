# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# report.awk -v results=FILE goals.tsv raw.tsv
#
# Sets each measured line against its goal: a table for people on standard
# output, the same for programs in FILE.  A goal holds for a ratio, or for the
# value itself when it is compared with nothing ("-").  "yes?" and "no?" are for
# goals within the interval that nine in ten repetitions would fall into.

BEGIN {
    FS = OFS = "\t"
    print "name", "value", "unit", "compared with", "ratio", "goal", "met", \
        "low", "high" >results
}

/^#/ { next }

FNR == NR {
    goals[$1 FS $2] = $3 " " $4
    next
}

function meets(number, goal,    part) {
    if (goal == "" || number == "")
        return ""
    split(goal, part, " ")
    if (part[1] == "<=")
        return number + 0 <= part[2] + 0 ? "yes" : "no"
    return number + 0 >= part[2] + 0 ? "yes" : "no"
}

# Less sure when the interval holds the goal.
function doubt(met, low, high, goal,    part) {
    if (met == "" || low == "")
        return met
    split(goal, part, " ")
    return low + 0 <= part[2] + 0 && part[2] + 0 <= high + 0 && low != high \
        ? met "?" : met
}

function show(name, value, unit, other, ratio, spread, goal, met) {
    printf "%-34s %10s %-13s %-18s %7s %-13s %-9s %s\n", name, value, unit, \
        other, ratio, spread, goal, met
}

{
    key = $1 FS ($4 == "" ? "-" : $4)
    goal = goals[key]
    number = $5
    if (($1 FS "-") in goals) {
        goal = goals[$1 FS "-"]
        number = $2
    }
    met = doubt(meets(number, goal), $6, $7, goal)
    print $1, $2, $3, $4, $5, goal, met, $6, $7 >results
    spread = $6 == "" || $6 == $7 ? "" : $6 "-" $7
    lines++
    if (lines == 1)
        show("what", "value", "unit", "compared with", "ratio", "9 of 10", \
            "goal", "met")
    show($1, $2, $3, $4, $5, spread, goal, met)
    if (met != "")
        count[met]++
}

END {
    if (lines > 0)
        printf "%d goals met, %d not met, %d met and %d not met by less " \
            "than the noise\n", count["yes"], count["no"], count["yes?"], \
            count["no?"]
}
