#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Every metric that an alert or a panel asks for is one that the client or the
# exporter's query makes, with labels that exist.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
folder=$RF_ROOT/docs/monitoring
metrics=$RF_ROOT/client/metrics.c

# What there is: the client's own, and NAMESPACE_COLUMN of the exporter.
made() {
    grep -o 'TYPE ringfence_[a-z_]*' "$metrics" | cut -d' ' -f2 |
        sed 'p; s/^ringfence_seconds$/ringfence_seconds_bucket/'
    awk '/^[a-z_]+:/ { sub(":", "", $1); name = $1 }
        /^    - / { sub(":", "", $2); print name "_" $2 }' "$folder/postgres_exporter.yml"
}
asked() {
    {
        sed -n 's/^ *expr: //p' "$folder/alerts.yml"
        jq -r '.panels[].targets[].expr' "$folder/dashboard.json"
    } | grep -o 'ringfence_[a-z_]*' | sort -u
}
missing() { asked | grep -vxF "$(made)"; }
labels() {
    {
        sed -n 's/^ *expr: //p' "$folder/alerts.yml"
        jq -r '.panels[].targets[].expr' "$folder/dashboard.json"
    } | grep -o '\(call\|step\|reason\)[!=]*="[a-z]*"' | grep -o '"[a-z]*"' | sort -u
}
unknown_labels() {
    labels | while IFS= read -r label; do
        grep -qF "$label" "$metrics" || echo "$label"
    done
}
columns() {
    sed -n 's/^  query: "\(.*\)"$/\1/p' "$folder/postgres_exporter.yml" |
        while IFS= read -r query; do
            psql -X -q -o /dev/null -v ON_ERROR_STOP=1 -c "$query" 2>/dev/null ||
                echo "$query"
        done
}
undocumented() {
    sed -n 's/^ *- alert: //p' "$folder/alerts.yml" | while IFS= read -r alert; do
        grep -q "^| $alert |" "$RF_ROOT/docs/monitoring.md" || echo "$alert"
    done
}

plan 6
ok "the dashboard is JSON" jq -e '.panels | length > 5' "$folder/dashboard.json"
ok "it asks for something" test "$(asked | wc -l)" -gt 8
is "every metric exists" "$(missing)" ""
is "and every label that is named" "$(unknown_labels)" ""
is "the exporter's queries run" "$(columns)" ""
is "every alert is explained" "$(undocumented)" ""
