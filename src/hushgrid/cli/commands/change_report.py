"""Changes for people and for programs."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hushgrid.cli.parameters import COLUMNS
from hushgrid.cli.polygons import shortened
from hushgrid.cli.text import csv_line
from hushgrid.text import WIDTH, aligned, whole

if TYPE_CHECKING:
    from hushgrid.arrays import Floats
    from hushgrid.change.difference import Difference

MOST_ROWS = 20  # of a table in a terminal that are not significant


@dataclass(frozen=True, kw_only=True, eq=False)
class ChangeReport:
    """Places, and what changed in each.

    Parameters
    ----------
    noun : str
        What one place is.
    names : sequence of str, optional
        What places are called.
    bounds : array, shape (n, 4), optional
        West, south, east and north of places that have no names.
    difference : Difference
    caveats : tuple of str
        What a reader must know besides.
    covered : bool
        Whether an interval holds the true change; else it is a range by noise alone.
    """

    noun: str
    names: Sequence[str] | None = None
    bounds: "Floats | None" = None
    difference: "Difference"
    caveats: tuple[str, ...] = ()
    covered: bool = True

    def table(self) -> str:
        """A table for people, the surest change first.

        Places where noise may explain the change are listed only as far as there is room.
        """
        columns, order = self.difference.columns(), self.difference.by_evidence().tolist()
        shown = order[: max(MOST_ROWS, int(columns["significant"].sum()))]
        rows = [self._row(number, columns) for number in shown]
        heading = [*(COLUMNS if self.names is None else [self.noun])]
        heading += ["before", "after", "change", "low", "high", "per cent", "p", ""]
        lines = [aligned([heading, *rows], left=0 if self.names is None else 1), ""]
        if len(shown) < len(order):
            lines.append(f"{len(order) - len(shown):,} more show no significant change; --csv lists all.")
        terms, number = self.difference.terms, f"{len(order):,} comparison{'' if len(order) == 1 else 's'}"
        percent = f"{100 * terms.confidence:.10g} %"
        meaning = f"From low to high is a range by noise alone, of {percent}."
        if self.covered:
            meaning = f"The true change lies between low and high with {percent} confidence."
        correction = f"{CORRECTION_TITLES[terms.correction]} correction for {number}"
        meaning += f" A star marks what is more than noise explains, after {correction}."
        return "\n".join([*lines, *self.caveats, wrapped(meaning), "", wrapped(self.sentence)])

    def _row(self, number: int, columns: "dict[str, Floats]") -> list[str]:
        place = [f"{bound:.8g}" for bound in self.bounds[number]] if self.bounds is not None else []
        if self.names is not None:
            place = [shortened(self.names[number])]
        ratio = columns["ratio"][number]
        changes = [signed(columns[name][number]) for name in ("difference", "low", "high")]
        counts = [whole(columns[name][number]) for name in ("before", "after")]
        percent = "" if math.isnan(ratio) else signed(100 * (ratio - 1))
        mark = "*" if columns["significant"][number] else ""
        return [*place, *counts, *changes, percent, p_text(columns["p_value"][number]), mark]

    @property
    def sentence(self) -> str:
        """What changed, in one sentence."""
        return self.difference.sentence(self.noun)

    def csv(self) -> Iterator[str]:
        """Lines of a CSV file at full precision, the surest change first.

        A ratio that is missing is empty.
        """
        from hushgrid.export.vectors import as_text

        columns = self.difference.columns()
        heading = COLUMNS if self.names is None else ("name",)
        yield csv_line([*heading, *columns])
        for number in self.difference.by_evidence().tolist():
            place = self.bounds[number].tolist() if self.bounds is not None else []
            if self.names is not None:
                place = [as_text(self.names[number])]
            yield csv_line([*place, *(_field(values[number].item()) for values in columns.values())])

    def records(self) -> list[dict[str, Any]]:
        """One record a place for JSON, the surest change first.

        Null stands for a ratio that is missing.
        """
        columns, found = self.difference.columns(), []
        for number in self.difference.by_evidence().tolist():
            place = {} if self.names is None else {"name": self.names[number]}
            if self.bounds is not None:
                place = dict(zip(COLUMNS, self.bounds[number].tolist(), strict=True))
            values = {name: values[number].item() for name, values in columns.items()}
            found.append({**place, **{name: None if math.isnan(value) else value for name, value in values.items()}})
        return found


CORRECTION_TITLES = {"bh": "Benjamini and Hochberg's", "holm": "Holm's"}


def wrapped(text: str) -> str:
    """A text in lines that fit a terminal."""
    return textwrap.fill(text, WIDTH)


def signed(number: float) -> str:
    """A number rounded to a whole, with its sign.

    Examples
    --------
    >>> signed(1234.5), signed(-3.2), signed(0.2)
    ('+1,234', '-3', '0')
    """
    return f"{round(number):+,}" if round(number) else "0"


def p_text(p: float) -> str:
    """A p-value in few letters.

    Examples
    --------
    >>> p_text(0.0423), p_text(3e-7), p_text(0.5)
    ('0.042', '<0.0001', '0.5')
    """
    return "<0.0001" if p < 1e-4 else f"{p:.2g}"


def _field(value: float | bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if math.isnan(value) else repr(value)
