# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Soak.pm - the page of a soak: its one line as numbers, and over time what was
# done to the world and what writers were told.
package Soak;
use strict;
use warnings;
use Html qw(el raw percent);

sub report {
    my ($file) = @_;
    my $soak = read_soak($file);
    my $bad = $soak->{accepted} || $soak->{lost} || @{ $soak->{violation} };
    my $title = $bad ? 'Soak: something broke' : 'Soak: nothing broke';
    return ($title,
        el('header', {}, el('h1', {}, $title),
            el('p', {}, "$soak->{workers} workers for $soak->{minutes} "
                . ($soak->{minutes} eq '1' ? 'minute' : 'minutes')
                . ", all faults at random, seed $soak->{seed}."),
            figures($soak), el('p', { class => 'small' }, $soak->{soak})),
        violations($soak),
        el('section', { class => 'drill' }, el('h2', {}, 'Over time'),
            el('p', { class => 'small' }, 'A hundred slices from left to right;'
                . ' each row on a scale of its own, its greatest slice '
                . 'told beside its name.'),
            charts($soak)));
}

sub read_soak {
    my ($file) = @_;
    my %soak = (violation => [], told => {}, happened => {}, overlap => {});
    open my $in, '<', $file or die "$file: $!\n";
    while (my $line = <$in>) {
        chomp $line;
        my ($word, @rest) = split /\t/, $line, -1;
        next if !defined $word;
        if ($word eq 'told') {
            $soak{told}{ $rest[1] }[$rest[0] - 1] += $rest[3];
        } elsif ($word eq 'happened') {
            $soak{happened}{ $rest[1] }[$rest[0] - 1] += $rest[2];
        } elsif ($word eq 'overlap') {
            $soak{overlap}{overlap}[$rest[0] - 1] += $rest[1];
        } elsif ($word eq 'violation') {
            push @{ $soak{violation} }, $rest[0];
        } else {
            $soak{$word} = $rest[0];
        }
    }
    die "$file: no soak in it\n" if !defined $soak{soak};
    return \%soak;
}

sub grouped {
    my ($n) = @_;
    1 while $n =~ s/^(\d+)(\d{3})/$1,$2/;
    return $n;
}

sub figures {
    my ($soak) = @_;
    my @figures = (
        ['operations', 'fenced operations'], ['faults', 'faults'],
        ['overlaps', 'times two believed in one lock'],
        ['refused', 'stale or late writes refused'],
        ['unknown', "unknown outcomes resolved; $soak->{landed} had landed"],
        ['accepted', 'stale writes accepted', 'zero'],
        ['lost', 'lost updates', 'zero'],
    );
    return el('dl', { class => 'figures' }, map {
        my ($name, $text, $must) = @$_;
        el('div', { class => !$must ? '' : $soak->{$name} ? 'zero not' : 'zero' },
            el('dt', {}, $text), el('dd', {}, grouped($soak->{$name})))
    } @figures);
}

sub violations {
    my ($soak) = @_;
    return if !@{ $soak->{violation} };
    return el('ul', { class => 'violated' },
        map { el('li', {}, $_) } @{ $soak->{violation} });
}

# ---- Rows over time --------------------------------------------------------------

sub charts {
    my ($soak) = @_;
    my %told = %{ $soak->{told} };
    my %happened = %{ $soak->{happened} };
    return el('div', { class => 'charts' },
        chart('writes accepted', 'good', $told{done}, 70),
        chart('writes refused', 'bad', $told{refused}, 40),
        chart('outcomes unknown', 'query', $told{unknown}, 40),
        chart('two believed in one lock', 'over', $soak->{overlap}{overlap}, 40),
        (map { chart("fault: $_", 'fault', $happened{$_}, 22) }
            sort keys %happened),
        time_axis($soak->{span} // 0));
}

sub chart {
    my ($name, $class, $slices, $height) = @_;
    my ($most, $sum, @columns) = (0, 0);
    for my $n (map { $_ // 0 } @{ $slices // [] }) {
        $most = $n if $n > $most;
        $sum += $n;
    }
    for my $i (0 .. 99) {
        my $n = $slices->[$i] or next;
        my $tall = $n / $most * ($height - 2);
        $tall = 2 if $tall < 2;
        push @columns, el('rect', { class => $class, x => percent($i + 0.1),
            width => percent(0.8), y => sprintf('%.1f', $height - $tall),
            height => sprintf('%.1f', $tall) });
    }
    return el('div', { class => 'chart' },
        el('div', { class => 'name' }, el('b', {}, $name),
            el('span', {}, grouped($sum) . " in all, at most $most in a slice")),
        el('svg', { width => '100%', height => $height, role => 'img',
            'aria-label' => "$name over time: " . grouped($sum) }, @columns,
            el('line', { class => 'axis', x1 => 0, x2 => '100%',
                y1 => $height - 0.5, y2 => $height - 0.5 })));
}

sub time_axis {
    my ($span) = @_;
    my ($unit, $ms) = $span > 300_000 ? ('min', 60_000) : ('s', 1000);
    my @ticks = map {
        el('text', { class => 'time', x => percent($_), y => 14,
            'text-anchor' => $_ == 0 ? 'start' : $_ == 100 ? 'end' : 'middle' },
            sprintf '%.0f %s', $span * $_ / 100 / $ms, $unit)
    } 0, 25, 50, 75, 100;
    return el('svg', { width => '100%', height => 20, 'aria-hidden' => 'true' },
        @ticks);
}

1;
