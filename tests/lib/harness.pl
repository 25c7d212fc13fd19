# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# harness.pl - run every test file, read their TAP, end in one line of counts
#
# Started by tests/run, which has PostgreSQL running.  Two files at a time for
# each processor, since most of them wait for servers; results are told in the
# order of the names, so that two runs read alike.
use strict;
use warnings;
use File::Basename qw(basename dirname);
use File::Path qw(make_path);
use List::Util qw(min);
use TAP::Parser;
use Time::HiRes qw(time);

my $root  = $ENV{RF_ROOT};
my $build = $ENV{RF_BUILD};
my $tmp   = $ENV{RF_TMP};
my $jobs  = $ENV{RF_JOBS} || min(8, 2 * `nproc`);
my $limit = $ENV{RF_TIMEOUT} || 300;    # seconds for one file
my $names = $ENV{RF_NAMES} || 't';      # of databases and folders
my $live  = -t STDOUT;
my ($passed, $failed) = (0, 0);
my %running;                            # pid => test
$| = 1;

# ---- Which tests there are --------------------------------------------------

# A kind is where its files are and the command that runs one of them.
my @kinds = (
    ['tests/client/test_*.c',       \&client_command],
    ['tests/sql/*.sql',             \&sql_command],
    ['tests/isolation/*.spec',      \&isolation_command],
    ['tests/{scripts,cli}/*.sh',    \&script_command],
    ['tests/*/test_*.sh',           \&script_command],
);

sub client_command {
    my ($file) = @_;
    my $program = "$build/tests/" . basename($file, '.c');
    return ("$root/tests/lib/valgrind.sh", $program) if $ENV{VALGRIND};
    return ($program);
}

sub sql_command {
    my ($file) = @_;
    return ('psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1',
        '-f', "$root/$file");
}

sub isolation_command { return ('bash', "$root/tests/lib/isolation.sh", @_) }
sub script_command    { return ('bash', "$root/$_[0]") }

# What runs nothing that is built with the sanitizers says so in its header.
sub is_left_out {
    my ($file) = @_;
    return 0 if !$ENV{SANITIZE};
    open my $in, '<', $file or die "$file: $!\n";
    while (my $line = <$in>) {
        last if $line !~ /^#/;
        return 1 if $line =~ /^# Not under SANITIZE: /;
    }
    return 0;
}

sub find_tests {
    my @tests;
    chdir $root or die "$root: $!\n";
    for my $kind (@kinds) {
        my ($glob, $command) = @$kind;
        for my $file (sort glob $glob) {
            next if $ENV{SANITIZE} && $ENV{SANITIZE} eq 'thread'
                && $command != \&client_command;
            next if $ENV{VALGRIND} && $command != \&client_command;
            next if defined $ENV{T} && $ENV{T} ne '' && $file !~ /$ENV{T}/;
            next if is_left_out($file);
            push @tests, { file => $file, command => $command,
                name => sprintf('%s%03d', $names, scalar @tests) };
        }
    }
    return @tests;
}

# ---- Running one --------------------------------------------------------------

# A database of its own, cloned from the one that has the extensions.  After a
# crash the server takes a moment to come back.
sub database {
    my ($sql) = @_;
    my $said;
    for (1 .. 50) {
        $said = `psql -X -q -d postgres -c "$sql" 2>&1`;
        return if $? == 0;
        last if $? >> 8 != 2;    # 2: no connection
        select undef, undef, undef, 0.1;
    }
    return "$sql: $said";
}

sub start {
    my ($test) = @_;
    (my $log = $test->{file}) =~ s{^tests/}{};
    $test->{log}     = "$build/log/$log.log";
    make_path(dirname($test->{log}));
    my $error = database("CREATE DATABASE $test->{name} TEMPLATE rf_template");
    die $error if $error;
    $test->{started} = time;

    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        setpgrp(0, 0);    # so that a test over its time goes with its children
        $ENV{PGDATABASE}            = $test->{name};
        $ENV{CMOCKA_MESSAGE_OUTPUT} = 'TAP';
        $ENV{TMPDIR}                = "$tmp/$test->{name}";
        mkdir $ENV{TMPDIR};
        open STDIN,  '<', '/dev/null';
        open STDOUT, '>', $test->{log} or die "$test->{log}: $!\n";
        open STDERR, '>&', \*STDOUT;
        exec $test->{command}->($test->{file}) or exit 127;
    }
    $running{$pid} = $test;
}

# All of a process group, and what its members have forked: processes of
# PostgreSQL have sessions of their own, and one that a test has stopped would
# outlive its server for ever.
sub kill_group {
    my ($group) = @_;
    my (%children, @todo, %found);
    for my $stat (glob '/proc/[0-9]*/stat') {
        open my $in, '<', $stat or next;
        my ($pid, $parent, $of) =
            (<$in> // '') =~ /^(\d+) \(.*\) \S (\d+) (\d+)/s or next;
        push @{ $children{$parent} }, $pid;
        push @todo, $pid if $of == $group;
    }
    while (my $pid = shift @todo) {
        push @todo, @{ $children{$pid} // [] } if !$found{$pid}++;
    }
    kill 'KILL', -$group, keys %found;
}

# Wait until one has ended; kill what is over its time.
sub reap {
    while (1) {
        my $pid = waitpid(-1, 1);
        if ($pid > 0) {
            my $test = delete $running{$pid} or next;
            $test->{status} = $?;
            $test->{took}   = time - $test->{started};
            kill_group($pid);    # whatever it left behind
            # Fails when a prepared transaction was left in it.
            $test->{left} = database("DROP DATABASE $test->{name} WITH (FORCE)");
            return;
        }
        for (keys %running) {
            next if time - $running{$_}{started} < $limit;
            $running{$_}{late} = 1;
            kill_group($_);
        }
        select undef, undef, undef, 0.02;
    }
}

# ---- Telling --------------------------------------------------------------------

# What a failed assertion's file printed around it.  When no assertion failed
# but the file did, all of it.
sub diagnostics {
    my ($test) = @_;
    open my $in, '<', $test->{log} or return '';
    my ($text, $pending, $bad) = ('', '', 0);
    my @lines = <$in>;
    return substr(join('', @lines), 0, 20_000) if !grep { /^not ok/ } @lines;
    for my $line (@lines) {
        if ($line =~ /^ok\b/ && $line !~ /#\s*skip/i) {
            $text .= $pending if $bad;
            ($pending, $bad) = ('', 0);
            next;
        }
        $bad = 1 if $line =~ /^(not ok|ok|Bail out)/;
        $pending .= $line;
    }
    return substr($text . $pending, 0, 20_000);
}

# Count one file's assertions; a file that dies, or prints too few of them,
# is one failure more.  A skip is a failure: it promised and did not look.
sub judge {
    my ($test) = @_;
    open my $in, '<', $test->{log} or die "$test->{log}: $!\n";
    my $tap = do { local $/; <$in> } // '';
    my $parser = TAP::Parser->new({ tap => "$tap\n" });
    $parser->run;
    my @skipped = $parser->skipped;
    my @good    = $parser->actual_passed;
    my $bad     = $parser->actual_failed + @skipped;
    my @why;
    push @why, "no end after $limit s" if $test->{late};
    push @why, sprintf('exit status %d, signal %d',
        $test->{status} >> 8, $test->{status} & 127)
        if $test->{status} && !$test->{late} && !$bad;
    push @why, $test->{left} if $test->{left};
    push @why, map { "TAP: $_" } $parser->parse_errors;
    push @why, 'skipped: ' . $parser->skip_all if $parser->skip_all;
    push @why, 'no assertion' if !@good && !$bad && !@why;
    $bad++ if @why && !$bad;
    $passed += @good - @skipped;
    $failed += $bad;
    return ($bad, scalar @good, \@why);
}

sub report {
    my ($test, $count, $of) = @_;
    my ($bad, $good, $why) = judge($test);
    print "\r\e[K" if $live;
    if ($bad) {
        print "FAILED $test->{file}\n";
        print "    $_\n" for @$why, split /\n/, diagnostics($test);
    } elsif ($ENV{V}) {
        printf "ok     %s (%d, %.1f s)\n", $test->{file}, $good, $test->{took};
    }
    printf "%d of %d files, %d failed", $count, $of, $failed if $live;
}

# A server that crashed, or in which a sanitizer complained, is a failure of
# its own: the file that met it may have expected an error.
sub judge_server {
    my ($log) = @_;
    my ($text, $left) = ('', 0);
    open my $in, '<', $log or die "$log: $!\n";
    while (my $line = <$in>) {
        $left = 40 if $line =~ /AddressSanitizer:|runtime\ error:|PANIC:
            |terminating\ any\ other\ active\ server|TRAP:/x;
        next if $left-- <= 0 || $line =~ /LOG:  checkpoint/;
        $text .= "    $line";
    }
    return if $text eq '';
    $failed++;
    print "FAILED the server's log\n", substr($text, 0, 20_000);
}

my @tests = find_tests();
if (!@tests) {
    print STDERR 'No test file matches T=', $ENV{T} // '', "\n";
    exit 2;
}
$SIG{TERM} = $SIG{INT} = sub {
    kill_group($_) for keys %running;
    exit 1;
};

my @queue = @tests;
my $told  = 0;
while ($told < @tests) {
    start(shift @queue) while @queue && keys %running < $jobs;
    reap() if %running;
    while ($told < @tests && defined $tests[$told]{status}) {
        report($tests[$told++], $told, scalar @tests);
    }
}
print "\r\e[K" if $live;
judge_server($ENV{RF_SERVER_LOG});
print "$passed passed, $failed failed\n";
exit($failed ? 1 : 0);
