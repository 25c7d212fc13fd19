# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Picture.pm - the timeline of one run: a lane for each worker, a lane for what
# was done to the world, and the moments at which two believed at once.
#
# Places from left to right are in per cent, so one picture fits every screen
# and sheet; heights and signs are in pixels, so they stay readable.
package Picture;
use strict;
use warnings;
use Exporter 'import';
use Html qw(el raw percent);
use Scale;
our @EXPORT_OK = qw(picture symbols seconds);

my $lane  = 58;    # one worker's lane
my $bar   = 34;    # where in it the middle of its bar is
my $axis  = 22;    # all of these in pixels

sub seconds {
    my ($ms) = @_;
    return sprintf $ms < 10_000 ? '%.2f s' : '%.1f s', $ms / 1000;
}

# ---- What there is to draw ------------------------------------------------------------

# Workers in the order in which they come; each with the row of its lane.
sub workers {
    my ($run) = @_;
    my (@order, %row);
    my @seen = sort { $a->{at} <=> $b->{at} }
        (grep { $_->{who} ne 'world' } @{ $run->{events} }),
        @{ $run->{writes} };
    for my $one (@seen) {
        next if exists $row{ $one->{who} };
        $row{ $one->{who} } = @order;
        push @order, $one->{who};
    }
    return (\@order, \%row);
}

# From a holder to who it is, and what its grants were.
sub grants {
    my ($run) = @_;
    my (%who, %list);
    for my $e (grep { $_->{what} eq 'granted' } @{ $run->{events} }) {
        my ($resource, $fence, $holder) = @{ $e->{more} };
        $who{$holder} = $e->{who};
        push @{ $list{ $e->{who} } }, { fence => $fence, holder => $holder };
    }
    return (\%who, \%list);
}

# When each worker stood still: told by itself, or by the drill that did it.
sub pauses {
    my ($run, $end) = @_;
    my (%open, @pauses);
    for my $e (@{ $run->{events} }) {
        my $from_outside = $e->{who} eq 'world';
        my $who = $from_outside ? $e->{more}[0] : $e->{who};
        if ($e->{what} eq 'stops' || $e->{what} eq 'stopped') {
            $open{$who} //= { who => $who, from => $e->{at},
                outside => $from_outside };
        } elsif ($e->{what} eq 'goes on'
            || $e->{what} eq 'continued' && $open{$who}
            && $open{$who}{outside}) {
            my $pause = delete $open{$who} or next;
            push @pauses, { %$pause, to => $e->{at} };
        }
    }
    push @pauses, map { { %$_, to => $end } } values %open;
    return sort { $a->{from} <=> $b->{from} } @pauses;
}

# Stretches in which more than one belief in the same resource was alive; a new
# one whenever somebody comes or goes.
sub overlaps {
    my ($beliefs) = @_;
    my (%of, @overlaps);
    push @{ $of{ $_->{resource} } }, $_ for @$beliefs;
    for my $resource (sort keys %of) {
        my @edges = sort { $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] }
            map { [$_->{since}, 1, $_], [$_->{until}, -1, $_] }
            @{ $of{$resource} };
        my (%alive, $since);
        for my $edge (@edges) {
            my ($at, $step, $belief) = @$edge;
            push @overlaps, { from => $since, to => $at, holders => [keys %alive] }
                if keys %alive > 1 && $at > $since;
            $since = $at;
            $step > 0 ? $alive{ $belief->{holder} } = 1
                      : delete $alive{ $belief->{holder} };
        }
    }
    return @overlaps;
}

# What was done, each with a number; the same again at once has the same one.
sub happenings {
    my ($run) = @_;
    my @happenings;
    for my $e (grep { $_->{what} eq 'happens' } @{ $run->{events} }) {
        my $same = @happenings && $happenings[-1]{text} eq $e->{more}[0];
        push @happenings, { text => $e->{more}[0], at => [] } if !$same;
        push @{ $happenings[-1]{at} }, $e->{at};
    }
    return @happenings;
}

# Marks that are no writes: what was told of a lock or a claim.
sub lesser_marks {
    my ($run) = @_;
    my @marks;
    for my $e (@{ $run->{events} }) {
        my ($status, $text) = @{ $e->{more} };
        my ($sign, $title);
        if ($e->{what} eq 'acquire' && $status =~ /^RF_(STALE|COLLISION|LOST)$/) {
            ($sign, $title) = ('claim', "its claim was refused: $status");
        } elsif ($e->{what} eq 'acquire' && $status ne 'RF_OK') {
            ($sign, $title) = ('nolock', "no lock: $status");
        } elsif ($e->{what} eq 'resolved') {
            ($sign, $title) = ('asked', "asked what became of $status: "
                . ($e->{more}[2] ? 'it had landed' : 'it had not'));
        }
        push @marks, { %$e, sign => $sign, title => $title } if $sign;
    }
    return @marks;
}

# ---- Signs ------------------------------------------------------------------------------

# Told apart by their form alone, so that colour is not needed.
sub symbols {
    return raw(<<'SVG');
<svg class="defs" width="0" height="0" aria-hidden="true"><defs>
<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch" width="2.6" height="7"/></pattern>
<g id="accepted"><circle class="halo" r="8.5"/><circle class="good" r="6.5"/></g>
<g id="refused"><circle class="halo" r="8.5"/><path class="bad line" d="M-5-5L5 5M5-5L-5 5"/></g>
<g id="wrong"><path class="halo" d="M0-12L12 9H-12Z"/><path class="wrong" d="M0-9.500L9.500 7H-9.500Z"/><path class="bang" d="M0-3.500V2M0 4V5.500"/></g>
<g id="landed"><path class="halo" d="M0-10L10 0L0 10L-10 0Z"/><path class="good" d="M0-8L8 0L0 8L-8 0Z"/><path class="bang" d="M-2-2.500Q0-5 2-2.500Q2.500-1 0 0V1M0 3V4"/></g>
<g id="lost"><path class="halo" d="M0-10L10 0L0 10L-10 0Z"/><path class="open" d="M0-7.500L7.500 0L0 7.500L-7.500 0Z"/><path class="query" d="M-2-2.500Q0-5 2-2.500Q2.500-1 0 0V1M0 3V4"/></g>
<g id="gone"><circle class="halo" r="8.5"/><circle class="open gone" r="6"/></g>
<g id="claim"><circle class="halo" r="7.500"/><circle class="open bad" r="5.500"/><path class="bad thin" d="M-4 4L4-4"/></g>
<g id="nolock"><path class="muted line" d="M-3.500 0H3.500"/></g>
<g id="asked"><rect class="open" x="-5" y="-5" width="10" height="10"/><path class="query" d="M-2-2.500Q0-5 2-2.500Q2.500-1 0 0V1M0 3V4"/></g>
<g id="flag"><path class="flag" d="M-9-10H9V5L0 12L-9 5Z"/></g>
</defs></svg>
SVG
}

sub sign {
    my ($name, $class, $moment, $y, $title) = @_;
    return el('g', { class => $class }, el('title', {}, $title),
        el('use', { href => "#$name", x => percent($moment->{x}), y => $y }));
}

# ---- The picture ----------------------------------------------------------------------------

sub picture {
    my ($run) = @_;
    my ($order, $row) = workers($run);
    return el('p', { class => 'none' }, 'No worker took part in this run.')
        if !@$order;
    my $scale = Scale->new;
    my $p = { run => $run, order => $order, row => $row, scale => $scale };
    @$p{qw(who grants)} = grants($run);
    $p->{top} = (grep { $_->{what} eq 'happens' } @{ $run->{events} }) ? 30 : 2;
    place($p);
    $scale->settle;
    $p->{height} = $p->{top} + $lane * @$order;
    my $least = 30 + 8 * int $scale->width;
    $least = $p->{least} = $least > 2400 ? 2400 : $least;
    return el('div', { class => 'scroll', tabindex => '0' },
        el('div', { class => 'picture', style => "min-width:${least}px" },
            labels($p),
            el('svg', { height => $p->{height} + $axis, width => '100%',
                role => 'img', 'aria-label' => summary($run) },
                draw_overlaps($p), draw_axis($p), draw_happenings($p),
                draw_lives($p), draw_beliefs($p), draw_pauses($p),
                draw_lesser($p), draw_writes($p))));
}

sub max { return $_[0] > $_[1] ? $_[0] : $_[1] }

sub summary {
    my ($run) = @_;
    my %n;
    $n{ $_->{outcome} }++ for @{ $run->{writes} };
    return 'Timeline: ' . (join(', ', map { "$n{$_} $_" } sort keys %n)
        || 'no write');
}

# Everything gets its moment before the scale is settled.
sub place {
    my ($p) = @_;
    my ($run, $scale) = @$p{qw(run scale)};
    my $end = 0;
    for my $one (@{ $run->{events} }, @{ $run->{writes} }) {
        $end = $one->{at} if $one->{at} > $end;
    }
    my $span = sub { (from => $scale->moment($_[0], 'start'),
        to => $scale->moment($_[1], 'end')) };
    $scale->moment(0, 'start');
    $scale->moment($end, 'end');
    my (%first, %last);
    for my $e (@{ $run->{events} }, @{ $run->{writes} }) {
        $first{ $e->{who} } //= $e->{at};
        $last{ $e->{who} } = max($e->{at}, $last{ $e->{who} } // 0);
    }
    $p->{lives} = [map { { who => $_, $span->($first{$_}, $last{$_}) } }
        @{ $p->{order} }];
    $p->{beliefs} = [map { { %$_, who => $p->{who}{ $_->{holder} },
        $span->(@$_{qw(since until)}) } }
        grep { defined $p->{who}{ $_->{holder} } } @{ $run->{beliefs} }];
    $p->{pauses} = [map { { %$_, ms => $_->{to} - $_->{from},
        $span->(@$_{qw(from to)}) } }
        grep { exists $p->{row}{ $_->{who} } } pauses($run, $end)];
    $p->{overlaps} = [map { { %$_, $span->(@$_{qw(from to)}) } }
        overlaps($run->{beliefs})];
    $p->{happenings} = [map { { %$_,
        moments => [map { $scale->moment($_, 'mark') } @{ $_->{at} }] } }
        happenings($run)];
    $p->{lesser} = [map { { %$_, moment => $scale->moment($_->{at}, 'mark') } }
        lesser_marks($run)];
    $p->{writes} = [map { { %$_, moment => $scale->moment($_->{at}, 'mark') } }
        @{ $run->{writes} }];
}

# Names stay in sight when a wide picture is moved.
sub labels {
    my ($p) = @_;
    my @rows = map {
        my $list = $p->{grants}{$_} // [];
        my $more = @$list == 0 ? ''
            : @$list == 1 ? 'fence ' . $list->[0]{fence} . ', holder '
                . substr($list->[0]{holder}, 0, 6)
            : @$list . ' grants, fences ' . $list->[0]{fence} . ' to '
                . $list->[-1]{fence};
        el('div', {}, el('b', {}, $_), " $more");
    } @{ $p->{order} };
    return el('div', { class => 'labels', 'aria-hidden' => 'true',
        style => "padding-top:$p->{top}px" }, @rows);
}

sub middle {
    my ($p, $who) = @_;
    return $p->{top} + $lane * $p->{row}{$who} + $bar;
}

sub box {
    my ($class, $from, $to, $y, $height) = @_;
    return el('rect', { class => $class, x => percent($from->{x}), y => $y,
        width => percent(max($to->{x} - $from->{x}, 0.4)), height => $height });
}

sub draw_overlaps {
    my ($p) = @_;
    my @drawn;
    for my $o (@{ $p->{overlaps} }) {
        my @rows = sort { $a <=> $b } map { $p->{row}{$_} } grep { defined }
            map { $p->{who}{$_} } @{ $o->{holders} };
        next if !@rows;
        my $top = $p->{top} + $lane * $rows[0] + 15;
        my $below = $p->{top} + $lane * ($rows[-1] + 1) - 1;
        push @drawn, el('g', {},
            el('title', {}, sprintf '%d believe in one lock, from %s to %s',
                scalar @rows, map { seconds($_->{at}) } @$o{qw(from to)}),
            box('overlap', @$o{qw(from to)}, $top, $below - $top));
    }
    return @drawn;
}

sub draw_axis {
    my ($p) = @_;
    my $y = $p->{height};
    my @drawn = el('line', { class => 'axis', x1 => '0', x2 => '100%',
        y1 => $y + 1, y2 => $y + 1 });
    my %everywhere = map { $_ => 1 } $p->{scale}->ticks(15);
    my @ticks = $p->{least} <= 500 ? $p->{scale}->ticks(15)
        : $p->{scale}->ticks(7500 / $p->{least});
    for my $tick (@ticks) {
        my $x = percent($tick->{x});
        my $anchor = $tick->{x} < 4 ? 'start' : $tick->{x} > 94 ? 'end'
            : 'middle';
        push @drawn, el('line', { class => 'axis', x1 => $x, x2 => $x,
            y1 => $y + 1, y2 => $y + 5 }), el('text', { x => $x,
            class => $everywhere{$tick} ? 'time' : 'time between', y => $y + 17,
            'text-anchor' => $anchor }, seconds($tick->{at}));
    }
    return @drawn;
}

sub draw_happenings {
    my ($p) = @_;
    my ($number, @drawn) = (0);
    for my $h (@{ $p->{happenings} }) {
        $number++;
        for my $moment (@{ $h->{moments} }) {
            push @drawn, el('line', { class => 'fault', y1 => 24,
                x1 => percent($moment->{x}), x2 => percent($moment->{x}),
                y2 => $p->{height} });
        }
        push @drawn, sign('flag', 'happening', $h->{moments}[0], 12, $h->{text}),
            el('text', { class => 'number', x => percent($h->{moments}[0]{x}),
                y => 15, 'text-anchor' => 'middle' }, $number);
    }
    return @drawn;
}

sub draw_lives {
    my ($p) = @_;
    return map {
        my $y = middle($p, $_->{who});
        el('line', { class => 'life', x1 => percent($_->{from}{x}),
            x2 => percent($_->{to}{x}), y1 => $y, y2 => $y });
    } @{ $p->{lives} };
}

sub draw_beliefs {
    my ($p) = @_;
    return map {
        el('g', {}, el('title', {}, sprintf '%s believed in its lock on %s '
            . 'from %s to %s', $_->{who}, $_->{resource},
            seconds($_->{since}), seconds($_->{until})),
            box('belief', @$_{qw(from to)}, middle($p, $_->{who}) - 8, 16));
    } @{ $p->{beliefs} };
}

sub draw_pauses {
    my ($p) = @_;
    my @drawn;
    for my $pause (@{ $p->{pauses} }) {
        my ($from, $to) = @$pause{qw(from to)};
        my $y = middle($p, $pause->{who});
        push @drawn, el('g', {},
            el('title', {}, "$pause->{who} stood still for "
                . seconds($pause->{ms})),
            box('pause', $from, $to, $y - 8, 16));
        next if $to->{x} - $from->{x} < 22;
        my $at = percent(($from->{x} + $to->{x}) / 2);
        push @drawn, map { el('text', { class => "paused $_", x => $at,
            y => $y + 4, 'text-anchor' => 'middle' }, 'paused') } qw(back front);
    }
    return @drawn;
}

sub draw_lesser {
    my ($p) = @_;
    return map { sign($_->{sign}, 'lesser', $_->{moment},
        middle($p, $_->{who}), seconds($_->{at}) . ": $_->{title}") }
        @{ $p->{lesser} };
}

sub title_of {
    my ($w) = @_;
    my $what = $w->{outcome} eq 'wrong' ? "accepted, and wrong: $w->{wrong}"
        : $w->{outcome} eq 'landed' ? 'accepted, its answer was lost'
        : $w->{outcome} eq 'lost' ? 'not there, its answer was lost'
        : $w->{outcome} eq 'gone' ? 'acknowledged, and not there in the end'
        : $w->{outcome} eq 'refused' ? "refused ($w->{status})" : 'accepted';
    return sprintf '%s: %s writes %s to %s with fence %s of holder %s: %s',
        seconds($w->{at}), $w->{who}, $w->{op}, $w->{resource} // '?',
        $w->{fence} // '?', $w->{holder} // '?', $what;
}

sub draw_writes {
    my ($p) = @_;
    my $few = @{ $p->{writes} } <= 24;
    my @drawn;
    for my $w (@{ $p->{writes} }) {
        my $y = middle($p, $w->{who});
        push @drawn, sign($w->{outcome}, "write $w->{outcome}", $w->{moment},
            $y, title_of($w));
        push @drawn, el('text', { class => 'fence', y => $y + 19,
            x => percent($w->{moment}{x}), 'text-anchor' => 'middle' },
            $w->{fence} // '') if $few;
    }
    return @drawn;
}

1;
