"""A figure or table of the evaluation: its words, its text cells, and the functions that make it from rows."""

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from experiments.trial import Row

ALPHA = "\N{GREEK SMALL LETTER ALPHA}"  # the first level's share of AG's budget
TIMES = "\N{MULTIPLICATION SIGN}"
DASH = "\N{EN DASH}"  # where a number was not measured
CANDLESTICK = (
    "A candlestick is the profile of the errors over all query sizes: its line goes from the 25th to the 95th "
    "percentile, its box from the median to the 75th, and the black bar is the mean, with one standard error to both "
    "sides."
)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Headings and lines of cells."""

    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]

    def save(self, path: Path) -> None:
        """Write it as CSV."""
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([self.headings, *self.lines])


def number(value: float | None, form: str = ".3g") -> str:
    """A number as text, a dash where there is none.

    Examples
    --------
    >>> number(12345.6, ",.0f"), number(float("nan"))
    ('12,346', '–')
    """
    return DASH if value is None or math.isnan(value) else format(value, form)


def span(bounds: tuple[int, int] | None) -> str:
    """A range of sizes as text.

    Examples
    --------
    >>> span((96, 192)), span((64, 64)), span(None)
    ('96 to 192', '64', '–')
    """
    if bounds is None:
        return DASH
    low, high = bounds
    return str(low) if low == high else f"{low} to {high}"


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """What the report shows under one heading.

    Parameters
    ----------
    title, caption : str
        What it is, and how to read it.
    source : str
        The figure, table or section of the paper; empty beyond the paper.
    draw, table : functions of rows, optional
        At least one of them.
    """

    title: str
    caption: str
    source: str = ""
    draw: Callable[[list[Row]], Figure] | None = None
    table: Callable[[list[Row]], Table] | None = None
