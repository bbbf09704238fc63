"""Answers to rectangles, as a table, CSV or JSON."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hushgrid.cli.output import aligned, whole
from hushgrid.cli.rectangles import COLUMNS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hushgrid.synopsis.synopsis import Synopsis

NUMBERS = ("estimate", "low", "high")
DEVIATIONS = ("noise_std", "spread_std")


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """Rectangles and what a synopsis says about them.

    Parameters
    ----------
    rects : array of float, shape (n, 4)
        West, south, east, north of each.
    values : mapping of str to array of float, shape (n,)
        The fields of `hushgrid.synopsis.answer.Answer`.
    confidence : float
        Confidence of the intervals.
    """

    rects: "NDArray[np.float64]"
    values: dict[str, "NDArray[np.float64]"]
    confidence: float

    def table(self, names: Sequence[str] | None = None) -> str:
        """Aligned lines for people; the rectangles' names, where there are any, stand for their bounds."""
        header = ["rectangle"] if names else list(COLUMNS)
        places = [[name] for name in names] if names else [[f"{bound:.10g}" for bound in rect] for rect in self.rects]
        numbers = ([whole(number) for number in row] for row in self._rows(NUMBERS))
        rows = [[*header, *NUMBERS], *([*place, *row] for place, row in zip(places, numbers, strict=True))]
        lines = [
            aligned(rows, left=1 if names else 0),
            "",
            "Counts are estimates: they carry noise that protects every record.",
            f"The true count lies between low and high with {100 * self.confidence:.10g} % confidence.",
        ]
        if (self.values["estimate"] < 0).any():
            lines.append("Noise can take an estimate below zero; it is left there, so that rectangles add up.")
        return "\n".join(lines)

    def csv(self) -> Iterator[str]:
        """Lines of a CSV file, at full precision; only numbers, so that no spreadsheet finds a formula in it."""
        yield ",".join((*COLUMNS, *NUMBERS)) + "\n"
        for rect, row in zip(self.rects.tolist(), self._rows(NUMBERS), strict=True):
            yield ",".join(map(repr, (*rect, *row))) + "\n"

    def records(self) -> list[dict[str, Any]]:
        """One record a rectangle, for JSON; null stands for a side without bound."""
        names = (*COLUMNS, *NUMBERS, *DEVIATIONS)
        rows = zip(self.rects.tolist(), self._rows((*NUMBERS, *DEVIATIONS)), strict=True)
        return [dict(zip(names, map(_bounded, (*rect, *row)), strict=True)) for rect, row in rows]

    def _rows(self, names: Sequence[str]) -> Iterator[tuple[float, ...]]:
        return zip(*(self.values[name].tolist() for name in names), strict=True)


def ask(synopsis: "Synopsis", rects: "NDArray[np.float64]", *, confidence: float) -> Answers:
    """What the synopsis says about the rectangles."""
    return Answers(rects=rects, values=vars(synopsis.answer(rects, confidence=confidence)), confidence=confidence)


def _bounded(number: float) -> float | None:
    return number if math.isfinite(number) else None
