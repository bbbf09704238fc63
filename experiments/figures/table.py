"""A table of text, as the report shows it."""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

from experiments.figures.symbols import DASH


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
