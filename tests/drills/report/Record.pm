# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Record.pm - reads what tests/drills/run has left of one drill: what it says of
# itself, and two runs with their events, commits and beliefs.
#
# All times become milliseconds since the first event of the run.
package Record;
use strict;
use warnings;

# read_drill FILE: { name, story, ..., runs => [guarded, weakened] }
sub read_drill {
    my ($file) = @_;
    my %drill = (runs => [], file => $file);
    open my $in, '<', $file or die "$file: $!\n";
    while (my $line = <$in>) {
        chomp $line;
        my ($word, @rest) = split /\t/, $line, -1;
        my $run = $drill{runs}[-1];
        if (!defined $word) { next }
        elsif ($word eq 'drill')     { $drill{name} = $rest[0] }
        elsif ($word eq 'verdict')   { @drill{qw(verdict why)} = @rest }
        elsif ($word eq 'run')       { push @{ $drill{runs} }, new_run($rest[0]) }
        elsif (!$run)                { $drill{$word} = $rest[0] // '' }
        elsif ($word eq 'event')     { push @{ $run->{events} }, event(@rest) }
        elsif ($word eq 'commit')    { push @{ $run->{commits} }, commit(@rest) }
        elsif ($word eq 'belief')    { push @{ $run->{beliefs} }, belief(@rest) }
        elsif ($word eq 'violation') { push @{ $run->{violations} }, $rest[0] }
        elsif ($word eq 'broken')    { push @{ $run->{broken} }, $rest[0] }
    }
    die "$file: no drill in it\n" if !defined $drill{name};
    settle($_) for @{ $drill{runs} };
    return \%drill;
}

sub new_run {
    my ($mode) = @_;
    return { mode => $mode, map { $_ => [] }
        qw(events commits beliefs violations broken) };
}

# Numbers come from files, and go into a picture's coordinates.
sub number { return ($_[0] // '') =~ /^(-?\d+)$/ ? $1 : 0 }

sub event {
    my ($at, $who, $what, @more) = @_;
    return { at => number($at), who => $who // '', what => $what // '',
        more => [map { $_ // '' } @more[0 .. 3]] };
}

sub commit {
    my ($n, $at, $resource, $op, $base, $fence, $holder) = @_;
    return { n => number($n), day => number($at), resource => $resource // '',
        op => $op // '', base => $base // '', fence => number($fence),
        holder => $holder // '' };
}

sub belief {
    my ($resource, $holder, $since, $until) = @_;
    return { resource => $resource // '', holder => $holder // '',
        since => number($since), until => number($until) };
}

# ---- From lines to what a picture shows -------------------------------------------

# The first event pairs the log's clock with the time of the day.
sub settle {
    my ($run) = @_;
    my ($pair) = grep { $_->{what} eq 'clock' } @{ $run->{events} };
    my $start = $pair ? $pair->{at}
        : @{ $run->{events} } ? $run->{events}[0]{at} : 0;
    my $midnight = $pair ? number($pair->{more}[0]) - $pair->{at}
        : @{ $run->{commits} } ? $run->{commits}[0]{day} - $start : 0;
    $run->{day} = $pair ? number($pair->{more}[0]) : 0;
    $run->{events} = [grep { $_->{what} ne 'clock' } @{ $run->{events} }];
    $_->{at} -= $start for @{ $run->{events} };
    $_->{at} = $_->{day} - $midnight - $start for @{ $run->{commits} };
    for my $belief (@{ $run->{beliefs} }) {
        $_ -= $start for @$belief{qw(since until)};
    }
    find_writes($run);
    find_accidents($run);
}

# Every write once: those a worker was told of, and those that only the database
# knows.  A commit's own time is rounded, so it is kept between its worker's
# neighbouring events.
sub find_writes {
    my ($run) = @_;
    my (%write, %grant, %last);
    for my $e (@{ $run->{events} }) {
        my ($a, $b, $c) = @{ $e->{more} };
        if ($e->{what} eq 'granted' || $e->{what} eq 'believes') {
            $grant{ $e->{who} } =
                { resource => $a, fence => $b, holder => $c };
        } elsif ($e->{what} eq 'told') {
            $write{$a} = { %{ $grant{ $e->{who} } // {} }, op => $a,
                who => $e->{who}, at => $e->{at}, told => $b, status => $c,
                after => $last{ $e->{who} } // $e->{at} };
        }
        $last{ $e->{who} } = $e->{at};
    }
    for my $c (@{ $run->{commits} }) {
        my $w = $write{ $c->{op} } //= { op => $c->{op}, at => $c->{at},
            who => $c->{op} =~ s/-.*//sr, told => '', status => '' };
        $w->{at} = within($c->{at}, $w->{after}, $w->{at}) if $w->{told} ne '';
        $w->{commit} = $c;
        @$w{qw(resource fence holder)} = @$c{qw(resource fence holder)};
    }
    $run->{writes} = [sort { $a->{at} <=> $b->{at}
        || ($a->{commit}{n} // 0) <=> ($b->{commit}{n} // 0)
        || $a->{op} cmp $b->{op} } values %write];
    $_->{outcome} = outcome($_) for @{ $run->{writes} };
}

sub within {
    my ($n, $least, $most) = @_;
    return $n < $least ? $least : $n > $most ? $most : $n;
}

sub outcome {
    my ($w) = @_;
    return $w->{commit} ? 'landed' : 'lost' if $w->{told} eq 'unknown';
    return 'accepted' if $w->{commit};
    return $w->{told} eq 'done' ? 'gone' : 'refused';
}

# What is wrong about a commit, seen from the ones before it.
sub find_accidents {
    my ($run) = @_;
    my %told = map { $_->{op} => $_->{told} } @{ $run->{writes} };
    my (%highest, %holder, %previous, %wrong);
    for my $c (@{ $run->{commits} }) {
        my $r = $c->{resource};
        my $of = \$holder{$r}{ $c->{fence} };
        my @why;
        push @why, "its fence $c->{fence} is below $highest{$r}"
            if ($highest{$r} // 0) > $c->{fence};
        push @why, "its fence $c->{fence} has another holder"
            if defined $$of && $$of ne $c->{holder};
        push @why, 'it had not read the write before it'
            if $c->{base} ne ($previous{$r} // '');
        push @why, 'its holder was told that it was refused'
            if ($told{ $c->{op} } // '') eq 'refused';
        $wrong{ $c->{op} } = join '; ', @why if @why;
        $highest{$r} = $c->{fence} if $c->{fence} > ($highest{$r} // 0);
        $$of //= $c->{holder};
        $previous{$r} = $c->{op};
    }
    for my $w (@{ $run->{writes} }) {
        next if !defined $wrong{ $w->{op} };
        @$w{qw(outcome wrong)} = ('wrong', $wrong{ $w->{op} });
    }
}

1;
