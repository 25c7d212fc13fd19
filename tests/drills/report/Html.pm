# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Html.pm - elements of a page.  Every value and every text given to el() as a
# plain string is escaped; what el() returned is not escaped again.
package Html;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(el raw percent page);

# Markup, as opposed to text.
sub raw { return bless \(my $markup = join '', @_), 'Html' }

# Control characters are not allowed in a page, and would hide a name's end.
sub escape {
    my ($text) = @_;
    my $copy = $text;
    $text =~ s/([\x80-\xff])/sprintf '\\x%02x', ord $1/ge
        if !utf8::decode($copy);
    $text =~ s/([\x00-\x08\x0b\x0c\x0e-\x1f\x7f])/sprintf '\\x%02x', ord $1/ge;
    $text =~ s/&/&amp;/g;
    $text =~ s/</&lt;/g;
    $text =~ s/>/&gt;/g;
    $text =~ s/"/&quot;/g;
    return $text;
}

# el NAME, { attributes }, children...: an element.
sub el {
    my ($name, $attributes, @children) = @_;
    my $open = $name;
    for my $key (sort keys %$attributes) {
        next if !defined $attributes->{$key};
        $open .= sprintf ' %s="%s"', $key, escape($attributes->{$key});
    }
    my $inside = join '', map { ref $_ ? $$_ : escape($_) }
        grep { defined } @children;
    return raw("<$open/>") if $inside eq '' && $name =~
        /^(meta|br|rect|line|circle|path|use)$/;
    return raw("<$open>$inside</$name>");
}

sub percent { return sprintf '%.3f%%', $_[0] }

# page TITLE, STYLE, children...: a whole document, well-formed as XML as well.
sub page {
    my ($title, $style, @children) = @_;
    my $html = el('html', { lang => 'en' },
        el('head', {}, el('meta', { charset => 'utf-8' }),
            el('meta', { name => 'viewport',
                content => 'width=device-width, initial-scale=1' }),
            el('title', {}, $title), raw("<style>$style</style>")),
        el('body', {}, @children));
    return "<!DOCTYPE html>\n$$html\n";
}

1;
