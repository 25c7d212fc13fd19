# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# table.awk REQUIRED COVERAGE.INFO: a line for each file and each part, and
# what is missing.  Fails when something is below what is required.

FILENAME == ARGV[1] {
    if ($1 ~ /^#/) next
    required[$1] = $2
    if (NF > 2) ways_required[$1] = $3
    next
}
/^SF:/ {
    file = substr($0, 4)
    sub(root, "", file)
    part = file
    sub(/\/.*/, "", part)
    files[++n] = file
}
/^DA:/ {
    split(substr($0, 4), line, ",")
    lines[file]++
    lines[part]++
    if (line[2] > 0) {
        hit[file]++
        hit[part]++
    } else
        missing[file] = missing[file] " " line[1]
}
/^BRDA:/ {
    split(substr($0, 6), branch, ",")
    ways[file]++
    ways[part]++
    if (branch[4] != "-" && branch[4] > 0) {
        gone[file]++
        gone[part]++
    } else if (branch[1] != told[file]) {
        untried[file] = untried[file] " " branch[1]
        told[file] = branch[1]
    }
}

function percent(a, b) { return b ? 100 * a / b : 100 }

function row(name) {
    printf "%-34s %6d %7.1f %9.1f  %s\n", name, lines[name],
        percent(hit[name], lines[name]), percent(gone[name], ways[name]),
        substr(missing[name], 2, 60)
}

function miss(name, problem) {
    bad++
    if (demand) print "not enough: " name ": " problem
}

END {
    printf "%-34s %6s %7s %9s  %s\n", "file", "lines", "% run", "% ways",
        "lines not run"
    for (i = 1; i <= n; i++) row(files[i])
    row("client")
    row("pg_extension")
    for (name in required) {
        if (!(name in lines)) {
            miss(name, "is not there")
            continue
        }
        is = percent(hit[name], lines[name])
        if (is < required[name])
            miss(name, sprintf("%.2f %% of the lines are run, %s are required",
                is, required[name]))
        is = percent(gone[name], ways[name])
        if (name in ways_required && is < ways_required[name])
            miss(name, sprintf("%.2f %% of the ways are gone, %s are required;" \
                " not all in lines%s", is, ways_required[name], untried[name]))
    }
    printf "coverage: client %.1f %% of %d lines, extension %.1f %% of %d\n",
        percent(hit["client"], lines["client"]), lines["client"],
        percent(hit["pg_extension"], lines["pg_extension"]),
        lines["pg_extension"]
    exit demand && bad
}
