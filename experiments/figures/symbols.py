"""Signs that are easily taken for others, by name."""

ALPHA = "\N{GREEK SMALL LETTER ALPHA}"  # the first level's share of AG's budget
TIMES = "\N{MULTIPLICATION SIGN}"
DASH = "\N{EN DASH}"  # where a number was not measured
