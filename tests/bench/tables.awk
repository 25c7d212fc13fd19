# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# tables.awk -v wanted=goals|values -v pictures=FOLDER goals.tsv labels.tsv
#     results.tsv
#
# What docs/performance.md says of a run, in Markdown: every goal, what was
# measured, and where the time goes when it is not met; or everything measured,
# a row for each who was measured and a column for each metric.

BEGIN { FS = OFS = "\t" }

FILENAME ~ /goals\.tsv$/ {
    if ($0 !~ /^#/)
        why[$1, $2] = $5
    next
}

FILENAME ~ /labels\.tsv$/ {
    if ($0 !~ /^#/)
        label[$1] = $2
    next
}

FNR == 1 { next }

# The name has three parts; the last one may have dots of its own.
{
    split($1, part, ".")
    measure = part[1]
    who = part[2]
    metric = substr($1, length(measure) + length(who) + 3)
    if (!(measure in of)) {
        of[measure] = ++measures
        named[measures] = measure
    }
    remember_goal()
    remember_value()
}

# A label of the measure's own comes first.
function words(name, measure) {
    if ((measure "." name) in label)
        return label[measure "." name]
    if (name in label)
        return label[name]
    sub(/^[.]/, "", name)
    gsub(/_/, " ", name)
    return name
}

function metric_words(name) {
    return name == "" ? "" : ", " words("." name)
}

# As people write it.
function number(text) {
    return text ~ /e[+]/ ? sprintf("%.0f", text) : text
}

function bound(goal) {
    sub(/<=/, "at most", goal)
    sub(/>=/, "at least", goal)
    return goal
}

function remember_goal(    reason) {
    if ($6 == "")
        return
    reason = why[$1, $4 == "" ? "-" : $4]
    if ((($1 SUBSEP "-") in why))
        reason = why[$1, "-"]
    n_goals++
    answers[$7]++
    spread = $8 == "" || $8 == $9 ? "" : $8 " to " $9
    goal_rows[n_goals] = sprintf("| %s: %s%s | %s | %s | %s | %s | %s |", \
        words(":" measure), words(who, measure), metric_words(metric), \
        $5 == "" ? "" : words($4, measure), bound($6), \
        $5 == "" ? number($2) " " $3 : $5, spread, \
        $7 (reason != "" && $7 ~ /no/ ? "; " reason : ""))
}

function remember_value() {
    if (!((measure, who) in row)) {
        row[measure, who] = ++rows[measure]
        row_name[measure, rows[measure]] = who
    }
    if (!((measure, metric) in column)) {
        column[measure, metric] = ++columns[measure]
        column_name[measure, columns[measure]] = metric
        unit[measure, metric] = $3
    }
    if (unit[measure, metric] != $3)
        unit[measure, metric] = ""
    value[measure, who, metric] = $2
    own_unit[measure, who, metric] = $3
    if (who ~ /_again$/ && $5 != "" && metric == "")
        again[measure] = $5 ($8 == "" ? "" : " (" $8 " to " $9 ")")
}

function print_goals(    i) {
    printf "%d goals are met and %d are not; of %d and %d more the run can't " \
        "be sure, because the goal lies within its noise.\n\n", \
        answers["yes"], answers["no"], answers["yes?"], answers["no?"]
    print "| what | compared with | goal | measured | nine in ten | met |"
    print "| --- | --- | --- | ---: | --- | --- |"
    for (i = 1; i <= n_goals; i++)
        print goal_rows[i]
}

function print_heads(m,    c, name, head, line) {
    head = "|"
    line = "| ---"
    for (c = 1; c <= columns[m]; c++) {
        name = column_name[m, c]
        head = head " | " (name == "" ? "" : words("." name))
        if (unit[m, name] != "")
            head = head (name == "" ? "" : ", ") unit[m, name]
        line = line " | ---:"
    }
    print head " |"
    print line " |"
}

function print_values(m,    r, c, who, name, line, shown) {
    print_heads(m)
    for (r = 1; r <= rows[m]; r++) {
        who = row_name[m, r]
        line = "| " words(who, m)
        for (c = 1; c <= columns[m]; c++) {
            name = column_name[m, c]
            shown = number(value[m, who, name])
            if (unit[m, name] == "" && own_unit[m, who, name] != "")
                shown = shown (shown == "not had" ? ": " : " ") \
                    own_unit[m, who, name]
            line = line " | " shown
        }
        print line " |"
    }
}

END {
    if (wanted == "goals") {
        print_goals()
        exit
    }
    for (i = 1; i <= measures; i++) {
        m = named[i]
        printf "%s### %s\n\n", (i > 1 ? "\n" : ""), words(":" m)
        if ((getline line <(pictures "/" m ".svg")) > 0)
            printf "![%s](performance/%s.svg)\n\n", words(":" m), m
        print_values(m)
        if (m in again)
            printf "\nThe same thing twice: %s.\n", again[m]
    }
}
