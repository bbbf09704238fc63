"""Answers about rectangles and polygons, as a table, CSV or JSON."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hushgrid.cli.output import aligned, whole
from hushgrid.cli.rectangles import COLUMNS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hushgrid.cli.features import Features
    from hushgrid.synopsis.answer import Answer
    from hushgrid.synopsis.synopsis import Synopsis

NUMBERS = ("estimate", "low", "high")
DEVIATIONS = ("noise_std", "spread_std")


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """Areas and what a synopsis says about them.

    Parameters
    ----------
    places : array, shape (n, columns)
        Numbers that tell the areas apart: west, south, east and north of rectangles.
    values : mapping of str to array of float, shape (n,)
        The fields of `hushgrid.synopsis.answer.Answer`.
    confidence : float
        Confidence of the intervals.
    unit : str
        What the noise protects: each record, or each user.
    covered : str
        What lies in the intervals.
    caveats : tuple of str
        What else a reader must know.
    columns : tuple of str
        What the numbers in `places` are called.
    """

    places: "NDArray[np.float64] | NDArray[np.int64]"
    values: dict[str, "NDArray[np.float64]"]
    confidence: float
    unit: str = "record"
    covered: str = "true count"
    caveats: tuple[str, ...] = ()
    columns: tuple[str, ...] = COLUMNS

    def table(self, names: Sequence[str] | None = None, *, called: str = "rectangle") -> str:
        """Aligned lines for people; the areas' names, where there are any, stand for their numbers."""
        header = [called] if names else list(self.columns)
        places = [[name] for name in names] if names else [[f"{place:.10g}" for place in row] for row in self.places]
        usable = self.values["usable"]
        numbers = ([whole(number) for number in row] for row in self._rows(NUMBERS))
        marks = (["" if good else "not usable"] for good in usable) if not usable.all() else ([] for _ in usable)
        rows = [[*place, *row, *mark] for place, row, mark in zip(places, numbers, marks, strict=True)]
        rows.insert(0, [*header, *NUMBERS, *([""] if not usable.all() else [])])
        lines = [
            aligned(rows, left=1 if names else 0),
            "",
            *self.caveats,
            f"Counts are estimates: they carry noise that protects every {self.unit}.",
            f"The {self.covered} lies between low and high with {100 * self.confidence:.10g} % confidence.",
        ]
        if not usable.all():
            lines.append("Where it is marked not usable, the interval is wider than the estimate.")
        if (self.values["estimate"] < 0).any():
            lines.append("Noise can take an estimate below zero; it is left there, so that areas add up.")
        return "\n".join(lines)

    def csv(self) -> Iterator[str]:
        """Lines of a CSV file, at full precision; only numbers, so that no spreadsheet finds a formula in it."""
        yield ",".join((*self.columns, *NUMBERS)) + "\n"
        for place, row in zip(self.places.tolist(), self._rows(NUMBERS), strict=True):
            yield ",".join(map(repr, (*place, *row))) + "\n"

    def records(self) -> list[dict[str, Any]]:
        """One record an area, for JSON; null stands for a side without bound."""
        fields = (*NUMBERS, *DEVIATIONS, "usable")
        rows = zip(self.places.tolist(), self._rows(fields), strict=True)
        return [dict(zip((*self.columns, *fields), map(_bounded, (*place, *row)), strict=True)) for place, row in rows]

    def _rows(self, names: Sequence[str]) -> Iterator[tuple[float, ...]]:
        return zip(*(self.values[name].tolist() for name in names), strict=True)


def ask(synopsis: "Synopsis", rects: "NDArray[np.float64]", *, confidence: float) -> Answers:
    """What the synopsis says about rectangles."""
    return Answers(places=rects, **_said(synopsis, synopsis.answer(rects, confidence=confidence), confidence))


def ask_polygons(synopsis: "Synopsis", features: "Features", *, confidence: float) -> Answers:
    """What the synopsis says about polygons."""
    import numpy as np

    answer = synopsis.answer_polygons(features, confidence=confidence)
    numbers = np.arange(len(features.features))[:, None]
    return Answers(places=numbers, columns=("feature",), **_said(synopsis, answer, confidence))


def _said(synopsis: "Synopsis", answer: "Answer", confidence: float) -> dict[str, Any]:
    from hushgrid.synopsis.meaning import caveats, covered

    return {
        "values": vars(answer),
        "confidence": confidence,
        "unit": synopsis.claim.unit,
        "covered": covered(synopsis),
        "caveats": caveats(synopsis),
    }


def _bounded(number: float) -> float | None:
    return number if math.isfinite(number) else None
