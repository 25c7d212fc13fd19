#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Every relative link in the documents leads to a file, and its anchor to a
# heading; every page in docs/ can be reached from the README.
# Not under SANITIZE: it reads.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
cd "$RF_ROOT" || exit 1

# links FILE: the targets of its links, one a line; code blocks left out.
links() {
    awk '/^ *```/ { code = !code } !code' "$1" |
        grep -o '\](\([^()]*\))' | sed 's/^](//; s/)$//' | grep -v '^[a-z]*:'
}

# anchors FILE: the names that headings get on the usual forges.
anchors() {
    sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' |
        sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# dead FILE: links of it that lead nowhere.
dead() {
    local link path anchor
    links "$1" | while read -r link; do
        path=${link%%#*}
        anchor=
        [ "$path" = "$link" ] || anchor=${link#*#}
        case $path in
        '') path=$1 ;;
        *) path=$(dirname "$1")/$path ;;
        esac
        if [ ! -e "$path" ]; then
            echo "$link: no such file"
        elif [ -n "$anchor" ] && ! anchors "$path" | grep -qx -- "$anchor"; then
            echo "$link: no such heading"
        fi
    done
}

# reached: every document that links lead to, from the README on.
reached() {
    local seen=" README.md " queue="README.md" page link path
    while [ -n "$queue" ]; do
        page=${queue%% *}
        queue=${queue#"$page"}
        queue=${queue# }
        echo "$page"
        for link in $(links "$page"); do
            path=$(realpath -m --relative-to=. \
                "$(dirname "$page")/${link%%#*}")
            case $path in *.md) ;; *) continue ;; esac
            case $seen in *" $path "*) continue ;; esac
            [ -e "$path" ] || continue
            seen="$seen$path "
            queue="${queue:+$queue }$path"
        done
    done
}

mapfile -t pages < <(printf '%s\n' README.md docs/*.md tests/README.md)
plan $((${#pages[@]} + 2))
for page in "${pages[@]}"; do
    is "$page" "$(dead "$page")" ""
done
ok "links were found at all" test "$(links README.md | wc -l)" -gt 5
is "every page can be reached from the README" \
    "$(comm -13 <(reached | sort) <(printf '%s\n' "${pages[@]}" | sort))" ""
