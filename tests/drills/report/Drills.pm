# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Drills.pm - the page of the drills: what they came to, how to read a picture,
# and for each drill its story and its two runs.
package Drills;
use strict;
use warnings;
use Html qw(el raw);
use Picture qw(picture symbols seconds);
use POSIX qw(strftime);
use Record;

my %weakened = (
    guard  => 'the guard lets everything pass, no table is protected',
    lower  => 'the usual rule: refuse only what is lower',
    recipe => 'the usual lock: SET NX PX and a number, no library, no guard',
    cached => 'the usual lock, with scripts called by digest alone',
    steps  => 'the lock of long ago: SETNX, then PEXPIRE, then INCR',
    wall   => 'the usual lock, and its holder believes its wall clock',
    gloomy => 'a worker that takes "unknown" for "refused"',
    seeded => 'a worker that draws its holder from a generator in memory',
    rule   => 'a rule of the manual is broken; the guard stays',
);

sub report {
    my @drills = map { Record::read_drill($_) } @_;
    my $held = grep { $_->{verdict} eq 'ok' } @drills;
    my $bad = @drills - $held;
    my $title = $bad ? "Drills: $bad of " . @drills . ' failed'
        : 'Drills: all ' . @drills . ' hold';
    return ($title, symbols(),
        el('header', {}, el('h1', {}, $title), el('p', {},
            'Real servers, real processes, one fault each. Every drill is '
            . 'played twice: guarded, where everything must hold, and '
            . 'weakened, where something must break, or the drill would prove '
            . 'nothing. What is judged is what was committed, in the order of '
            . 'the commits.'), figures(@drills), played(@drills)),
        legend(), contents(@drills), map { section($_) } @drills);
}

# ---- The top of the page ---------------------------------------------------------

sub figures {
    my (@drills) = @_;
    my @guarded = map { $_->{runs}[0] // () } @drills;
    my @weak = map { $_->{runs}[1] // () } @drills;
    my $count = sub {
        my ($outcome, @runs) = @_;
        return scalar grep { $_->{outcome} eq $outcome }
            map { @{ $_->{writes} } } @runs;
    };
    my @figures = (
        [$count->('accepted', @guarded) + $count->('landed', @guarded),
            'writes accepted', ''],
        [$count->('refused', @guarded), 'writes refused', ''],
        [$count->('wrong', @guarded), 'accidents, guarded', 'zero'],
        [$count->('wrong', @weak), 'accidents, weakened', ''],
    );
    return el('dl', { class => 'figures' }, map {
        el('div', { class => $_->[2] }, el('dt', {}, $_->[1]),
            el('dd', {}, $_->[0]))
    } @figures);
}

sub played {
    my (@drills) = @_;
    my ($day) = sort { $a <=> $b } grep { $_ } map { $_->{day} }
        map { @{ $_->{runs} } } @drills;
    return el('p', { class => 'small' }, 'Played ', $day
        ? strftime('%Y-%m-%d %H:%M UTC', gmtime $day / 1000) : 'at no known time',
        ", seed $drills[0]{seed}.");
}

sub sample {
    my ($name) = @_;
    return el('svg', { class => 'sample', width => 26, height => 26,
        viewBox => '-13 -13 26 26', 'aria-hidden' => 'true' },
        el('use', { href => "#$name" }));
}

sub sample_box {
    my (@classes) = @_;
    return el('svg', { class => 'sample', width => 40, height => 26,
        'aria-hidden' => 'true' }, map { el('rect', { class => $_, x => 1,
        y => 5, width => 38, height => 16 }) } @classes);
}

sub legend {
    my @signs = (
        [sample('accepted'), 'write accepted'],
        [sample('refused'), 'write refused'],
        [sample('wrong'), 'write accepted, and wrong: the accident'],
        [sample('landed'), 'answer lost; it had landed'],
        [sample('lost'), 'answer lost; it had not'],
        [sample('gone'), 'acknowledged; the database lost it'],
        [sample('asked'), 'asked what became of it'],
        [sample('claim'), 'claim refused: no section begins'],
        [sample('nolock'), 'asked for the lock in vain'],
        [sample('flag'), 'the drill does something to the world'],
        [sample_box('belief'), 'believed in the lock, and acted on it'],
        [sample_box('belief', 'pause'), 'stood still'],
        [sample_box('overlap'), 'two believed in one lock'],
    );
    return el('section', { class => 'legend' },
        el('h2', {}, 'How to read the pictures'),
        el('p', {}, 'A lane for each worker, time from left to right, '
            . 'stretched where much happens; the order is exact. The number '
            . 'below a write is its fence. Point at a sign to read more; every '
            . 'write is in the table below its picture.'),
        el('ul', {}, map { el('li', {}, @$_) } @signs));
}

sub contents {
    my (@drills) = @_;
    my @rows = map {
        my $ok = $_->{verdict} eq 'ok';
        el('tr', {}, el('td', {}, verdict($ok)),
            el('td', {}, el('a', { href => '#' . anchor($_) }, title($_))),
            map { el('td', { class => 'broke' }, $_) } broke($_->{runs}[1]))
    } @drills;
    return el('section', {}, el('h2', {}, 'All of them'),
        el('table', { class => 'contents' },
            el('tr', {}, map { el('th', {}, $_) } '', 'drill',
                'what breaks without the guard'), @rows));
}

# ---- One drill ---------------------------------------------------------------------

sub anchor { my $name = $_[0]{name}; $name =~ s/[^A-Za-z0-9-]/_/g; return $name }

sub title {
    my $name = $_[0]{name};
    $name =~ s/^(\d+)-/$1 /;
    $name =~ tr/-/ /;
    return $name;
}

sub verdict {
    my ($ok) = @_;
    return el('span', { class => 'verdict ' . ($ok ? 'held' : 'failed') },
        $ok ? "\xe2\x9c\x93 holds" : "\xe2\x9c\x97 failed");
}

# What tests/drills/verdict.sql looks for, in words.
my %rules = (
    I1   => 'fences go down',
    I2   => 'one number writes for two holders',
    I3   => 'holders interleave',
    I4   => 'what was acknowledged is not there',
    I5   => 'what was refused is there',
    I6   => 'something is there twice',
    I7   => 'lost updates',
    must => 'the story ends otherwise',
);

sub broke {
    my ($run) = @_;
    my %kinds = map { s/:.*//sr => 1 } @{ $run->{violations} };
    return join(', ', map { $rules{$_} // $_ } sort keys %kinds) || 'nothing';
}

sub section {
    my ($drill) = @_;
    my $ok = $drill->{verdict} eq 'ok';
    my @told = map { defined $drill->{$_->[0]}
        ? (el('dt', {}, $_->[1]), el('dd', {}, ucfirst $drill->{ $_->[0] })) : () }
        ['story', 'Story'], ['holds', 'Must hold'], ['seen', 'Seen in'];
    return el('section', { class => 'drill', id => anchor($drill) },
        el('h2', {}, title($drill), ' ', verdict($ok)),
        el('dl', { class => 'story' }, @told),
        $ok ? () : el('p', { class => 'why' }, $drill->{why}),
        el('div', { class => 'runs' },
            map { run($drill, $_) } @{ $drill->{runs} }));
}

sub run {
    my ($drill, $run) = @_;
    my $guarded = $run->{mode} eq 'guarded';
    my $weak = $drill->{weakened} || 'guard';
    return el('article', { class => $run->{mode} },
        el('h3', {}, $guarded ? 'Guarded' : 'Weakened', ' ',
            chip($guarded, $run)),
        el('p', { class => 'small' }, $guarded ? 'Guard and triggers in place.'
            : ('Instead: ', $weakened{$weak} // $weak, '.')),
        picture($run), happened($run), violated($run), writes($run));
}

sub chip {
    my ($guarded, $run) = @_;
    my ($class, $text) = @{ $run->{broken} } ? ('failed', 'could not be played')
        : $guarded && @{ $run->{violations} } ? ('failed', 'something broke')
        : $guarded ? ('held', 'everything held')
        : @{ $run->{violations} } ? ('broke', 'broke, as it must')
        : ('failed', 'nothing broke: proves nothing');
    return el('span', { class => "chip $class" }, $text);
}

sub happened {
    my ($run) = @_;
    my @all = Picture::happenings($run);
    return if !@all;
    return el('ol', { class => 'happened' }, map {
        my $times = @{ $_->{at} };
        el('li', {}, $_->{text}, el('span', { class => 'small' },
            ' ', seconds($_->{at}[0]), $times > 1 ? ", $times times" : ()))
    } @all);
}

# The first few of each kind tell what there is to tell.
sub violated {
    my ($run) = @_;
    my @all = (@{ $run->{violations} }, @{ $run->{broken} });
    return if !@all;
    my @some = @all > 6 ? @all[0 .. 4] : @all;
    return el('ul', { class => 'violated' }, (map { el('li', {}, $_) } @some),
        @some < @all ? el('li', {}, 'and ' . (@all - @some) . ' more') : ());
}

my %words = (accepted => 'accepted', refused => 'refused',
    wrong => 'accepted, wrong', landed => 'unknown; landed',
    lost => 'unknown; not there', gone => 'acknowledged; not there');

sub writes {
    my ($run) = @_;
    my @writes = @{ $run->{writes} };
    return if !@writes;
    my @rows = map {
        my $w = $_;
        el('tr', { class => $w->{outcome} },
            map { el('td', {}, $_) } seconds($w->{at}), $w->{who},
            $w->{resource} // '', $w->{fence} // '',
            substr($w->{holder} // '', 0, 8),
            $words{ $w->{outcome} } . ($w->{status} =~ /^RF_(?!OK|UNKNOWN)/
                ? " $w->{status}" : ''),
            $w->{commit} ? $w->{commit}{n} : '')
    } @writes;
    return el('details', { class => @writes > 12 ? 'long' : 'short' },
        el('summary', {}, @writes == 1 ? 'The only write'
            : 'All ' . @writes . ' writes'),
        el('div', { class => 'scroll' }, el('table', {},
            el('tr', {}, map { el('th', {}, $_) } 'at', 'who', 'resource',
                'fence', 'holder', 'outcome', 'commit'), @rows)));
}

1;
