# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# snippets.pl DOCUMENT...: what the documents show is tried; prints TAP
#
# Every fenced block names its language, and a block of code has a comment
# above it that says how it is tested.  tests/README.md has the list of marks.
use strict;
use warnings;

my $root   = $ENV{RF_ROOT};
my $tmp    = $ENV{TMPDIR};
my $count  = 0;
my $failed = 0;
my %is_code = map { $_ => 1 } qw(c cpp sql sh bash console lua python js perl);

sub result {
    my ($name, $why) = @_;
    $count++;
    if (!defined $why) {
        print "ok $count - $name\n";
        return;
    }
    print "not ok $count - $name\n";
    print "# $_\n" for split /\n/, $why;
    $failed++;
}

# ---- Reading -------------------------------------------------------------------

# Blocks of one document: language, mark, text, line.
sub blocks {
    my ($file) = @_;
    open my $in, '<', "$root/$file" or die "$file: $!\n";
    my (@blocks, $block, $mark);
    while (my $line = <$in>) {
        if ($block) {
            if ($line =~ /^\s*```\s*$/) {
                push @blocks, $block;
                undef $block;
            } else {
                $block->{text} .= $line;
            }
        } elsif ($line =~ /^\s*```(\S*)/) {
            $block = { language => $1, mark => $mark, text => '',
                where => "$file:$." };
            undef $mark;
        } elsif ($line =~ /^\s*<!--\s*test:\s*(.*?)\s*-->\s*$/) {
            $mark = $1;
        } elsif ($line =~ /\S/) {
            undef $mark;
        }
    }
    die "$file: a block without an end\n" if $block;
    return @blocks;
}

# ---- Trying ----------------------------------------------------------------------

# Run a command on a text; what it said, and whether it failed.
sub try {
    my ($text, $name, @command) = @_;
    open my $out, '>', "$tmp/$name" or die "$tmp/$name: $!\n";
    print $out $text;
    close $out;
    my $pid = open my $in, '-|';
    if (!$pid) {
        open STDERR, '>&', \*STDOUT;
        open STDIN, '<', '/dev/null';
        exec @command, "$tmp/$name" or exit 127;
    }
    my $said = do { local $/; <$in> } // '';
    close $in;
    return ($? == 0, $said);
}

sub flags {
    my $flags = `pkg-config --cflags libpq hiredis`;
    return split ' ', $flags;
}

sub compile {
    my ($block) = @_;
    my ($good, $said) = try($block->{text}, 'snippet.c', $ENV{CC} || 'gcc',
        qw(-std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Werror -fsyntax-only),
        "-I$root/client", flags());
    return $good ? undef : $said;
}

# The lines stand in that file, in this order and together; indentation apart.
sub excerpt {
    my ($block, $file) = @_;
    open my $in, '<', "$root/$file" or return "$file: $!";
    my $whole = do { local $/; <$in> };
    my $part = $block->{text};
    s/^[ \t]+|[ \t]+$//mg for $whole, $part;
    return index($whole, $part) >= 0 ? undef : "not found in $file";
}

# What a comment says of a statement, such as "-- UPDATE 0", is what psql says.
sub untrue {
    my ($text, $said) = @_;
    my $tag  = qr/(?:UPDATE|DELETE|MERGE|INSERT 0) \d+/;
    my @want = $text =~ /--.*?($tag)/g;
    my @have = $said =~ /^($tag)$/mg;
    my $next = 0;
    for (@have) {
        $next++ if $next < @want && $want[$next] eq $_;
    }
    return if $next == @want;
    return "the block says @want; psql says @have";
}

sub sql {
    my ($block, $want) = @_;
    my ($good, $said) = try($block->{text}, 'snippet.sql', 'psql', '-X',
        '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose', '-f');
    if ($want) {
        return if !$good && $said =~ /ERROR:  \Q$want\E:/;
        return "not refused with $want:\n$said";
    }
    return $good ? untrue($block->{text}, $said) : $said;
}

sub shell {
    my ($block) = @_;
    my ($good, $said) = try($block->{text}, 'snippet.sh', 'bash', '-eu');
    return $good ? undef : $said;
}

# With a Redis of its own, and the command that was built, as it is installed.
sub shell_with_redis {
    my ($block) = @_;
    my ($good, $said) = try($block->{text}, 'snippet.sh', 'bash', '-euc', <<'SH',
. "$RF_ROOT/tests/lib/redis.sh"
dir=$(mktemp -d /tmp/rf.XXXXXX)
trap 'redis_stop "$dir"; rm -rf "$dir"' EXIT
redis_start "$dir"
cd "$dir"
PATH=$RF_BUILD:$PATH
export RINGFENCE_URL=redis+unix://$dir/redis.sock HOME=$dir
. "$1"
SH
        'bash');
    return $good ? undef : $said;
}

# Nothing is run: every "make TARGET" must be one that make help-all lists.
sub targets {
    my ($block) = @_;
    my ($good, $said) = try($block->{text}, 'snippet.sh', 'bash', '-n');
    return $said if !$good;
    my %known = map { /^  ([a-z-]+)\s/ ? ($1 => 1) : () }
        `make -s --no-print-directory -C $root help-all`;
    my @words = map { /\bmake[ \t]+([^#&;|\n]*)/g } $block->{text};
    my @bad = grep { !/=|^-/ && !$known{$_} } map { split ' ' } @words;
    return @bad ? "no such target: @bad" : @words ? undef : 'no make in it';
}

sub verdict {
    my ($block) = @_;
    my ($language, $mark) = @$block{qw(language mark)};
    return 'a block without a language; "text" if it is none' if !$language;
    return 'no mark above it' if !defined $mark;
    return excerpt($block, $1)  if $mark =~ /^from (\S+)$/;
    return compile($block)      if $mark eq 'compile' && $language eq 'c';
    return sql($block)          if $mark eq 'run' && $language eq 'sql';
    return sql($block, $1)      if $mark =~ /^refused (\w{5})$/
        && $language eq 'sql';
    return shell($block)        if $mark eq 'run' && $language =~ /^(sh|bash)$/;
    return shell_with_redis($block) if $mark eq 'run with redis'
        && $language =~ /^(sh|bash)$/;
    return targets($block)      if $mark eq 'targets'
        && $language =~ /^(sh|bash)$/;
    return if $mark =~ /^none, because \w/;
    return "mark '$mark' does not fit a block of $language";
}

sub psql { system('psql', '-X', '-q', '-d', 'postgres', '-c', $_[0]) == 0 }

# Blocks of one document share a database, so that one may build on another.
for my $file (@ARGV) {
    my @blocks = grep { !$_->{language} || $is_code{ $_->{language} } }
        blocks($file);
    local $ENV{PGDATABASE} = "$ENV{PGDATABASE}_doc";
    psql("CREATE DATABASE $ENV{PGDATABASE} TEMPLATE rf_template")
        or die "no database for $file\n";
    result("$_->{where} $_->{language}, " . ($_->{mark} // 'unmarked'),
        verdict($_)) for @blocks;
    psql("DROP DATABASE $ENV{PGDATABASE} WITH (FORCE)");
}
print "1..$count\n";
exit($failed ? 1 : 0);
