#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# What audit() can say is in its functions' texts: of each, some test of the
# database side makes the hole and asserts the words.
set -u
. "$RF_ROOT/tests/lib/tap.sh"
cd "$RF_ROOT" || exit 1

# findings: the texts, one a line.  They begin in lower case, or with a name;
# what begins in capitals is a remedy, and a single word no text.
findings() {
    perl -0777 -ne '
        while (/^CREATE FUNCTION ringfence\.audit_\w+\(\).*?^AS \$\$(.*?)^\$\$/msg) {
            my $body = $1;
            $body =~ s/--[^\n]*//g;
            $body =~ s/\x27\s*\n\s*\x27//g;
            while ($body =~ /\x27((?:[^\x27]|\x27\x27)*)\x27/g) {
                my $text = $1;
                print "$text\n" if $text =~ / / && $text !~ /^[A-Z]{4}/;
            }
        }' sql/ringfence.sql
}

# untested: those of which no test has the words between two names.
untested() {
    perl -0777 -e '
        my ($findings, @tests) = @ARGV;
        my $said = "";
        for my $test (@tests) {
            open my $file, "<", $test or die "$test: $!";
            my $text = <$file>;
            $text =~ s/\x27\s*\n\s*\x27//g;
            $said .= $text;
        }
        for my $finding (split /\n/, $findings) {
            for my $words (split /%[sIL]/, $finding) {
                print "$finding\n" and last if index($said, $words) < 0;
            }
        }' "$(findings)" tests/sql/*.sql
}

plan 2
is "the findings are found" "$([ "$(findings | wc -l)" -ge 29 ] && echo enough)" \
    enough
is "each has a test with its words" "$(untested)" ""
