# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Scale.pm - where moments stand from left to right, in per cent.
#
# A drill is seconds of waiting and then much within a millisecond.  The order
# is what matters, so a scale keeps the order exactly, gives every mark a place
# of its own, and lets long waits grow only with their logarithm.
package Scale;
use strict;
use warnings;

# What comes first within one millisecond.
my %rank = (start => 0, mark => 1, end => 2);

sub new { return bless { moments => [], width => 0 }, shift }

# moment TIME, KIND (start, mark or end): {x} is its place once settled.
sub moment {
    my ($self, $at, $kind) = @_;
    my $moment = { at => $at, kind => $kind, n => scalar @{ $self->{moments} } };
    push @{ $self->{moments} }, $moment;
    return $moment;
}

sub settle {
    my ($self) = @_;
    my @all = sort { $a->{at} <=> $b->{at}
        || $rank{ $a->{kind} } <=> $rank{ $b->{kind} } || $a->{n} <=> $b->{n} }
        @{ $self->{moments} };
    my $before;
    for my $moment (@all) {
        my $waited = $before ? $moment->{at} - $before->{at} : 0;
        $self->{width} += log(1 + $waited / 20)
            + ($moment->{kind} eq 'mark' ? 1 : $waited ? 0.3 : 0);
        $moment->{x} = $self->{width};
        $before = $moment;
    }
    $_->{x} *= 100 / ($self->{width} || 1) for @all;
    $self->{moments} = \@all;
}

# How wide the whole is, in marks.
sub width { return $_[0]{width} }

# Moments at least so many per cent apart, to write the time at.
sub ticks {
    my ($self, $apart) = @_;
    my @ticks;
    for my $moment (@{ $self->{moments} }) {
        push @ticks, $moment
            if !@ticks || $moment->{x} - $ticks[-1]{x} >= $apart;
    }
    return @ticks;
}

1;
