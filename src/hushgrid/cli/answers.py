"""Areas, and what a release says about them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from hushgrid.cli.parameters import COLUMNS
from hushgrid.cli.polygons import shortened
from hushgrid.cli.text import csv_line
from hushgrid.text import aligned, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hushgrid.cli.polygons import Features
    from hushgrid.synopsis.answer import Answer
    from hushgrid.synopsis.synopsis import Synopsis


NUMBERS = ("estimate", "low", "high")
WHAT_TO_ASK = "Give the areas with one of --rect W,S,E,N, --rects FILE and --polygons FILE."
DEVIATIONS = ("noise_std", "spread_std")


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """Areas, and what a synopsis says about them.

    Parameters
    ----------
    places : array, shape (n, columns)
        Numbers that identify the areas: west, south, east and north of rectangles.
    values : mapping of str to array of float, shape (n,)
        The fields of `hushgrid.synopsis.answer.Answer`.
    confidence : float
        Confidence of the intervals.
    unit : str
        What the noise protects: each record, or each user.
    covered : str
        What lies in the intervals; empty where low and high are a range by noise alone.
    caveats : tuple of str
        What a reader must know besides.
    columns : tuple of str
        What the numbers in `places` are called.
    names : sequence of str, optional
        What the areas are called. Rectangles have no names.
    slices : sequence of str, optional
        The slice that each row is about, where every slice has rows.
    """

    places: "NDArray[np.float64] | NDArray[np.int64]"
    values: dict[str, "NDArray[np.float64]"]
    confidence: float
    unit: str = "record"
    covered: str = "true count"
    caveats: tuple[str, ...] = ()
    columns: tuple[str, ...] = COLUMNS
    names: Sequence[str] | None = None
    slices: Sequence[str] | None = None

    def table(self) -> str:
        """A table for people.

        Names of areas, where there are any, replace their numbers.
        """
        names = self.names
        header = list(self.columns) if names is None else ["area"]
        places = (
            [[shortened(name)] for name in names]
            if names is not None
            else [[f"{place:.10g}" for place in row] for row in self.places]
        )
        if self.slices is not None:
            header = ["slice", *header]
            places = [[shortened(name), *place] for name, place in zip(self.slices, places, strict=True)]
        usable = self.values["usable"]
        numbers = ([whole(number) for number in row] for row in self._rows(NUMBERS))
        marks = (["" if good else "not usable"] for good in usable) if not usable.all() else ([] for _ in usable)
        rows = [[*place, *row, *mark] for place, row, mark in zip(places, numbers, marks, strict=True)]
        rows.insert(0, [*header, *NUMBERS, *([""] if not usable.all() else [])])
        lines = [
            aligned(rows, left=(names is not None) + (self.slices is not None)),
            "",
            *self.caveats,
            f"Counts are estimates: they carry noise that protects every {self.unit}.",
        ]
        if self.covered:
            confidence = f"{100 * self.confidence:.10g} % confidence"
            lines.append(f"The {self.covered} lies between low and high with {confidence}.")
        if not usable.all():
            word = "interval" if self.covered else "range"
            lines.append(f"Where an answer is marked not usable, the {word} is wider than the estimate.")
        if (self.values["estimate"] < 0).any():
            lines.append("Noise can take an estimate below zero. It is left there, so that areas add up.")
        return "\n".join(lines)

    def csv(self) -> Iterator[str]:
        """Lines of a CSV file, at full precision."""
        from hushgrid.export.vectors import as_text

        nothing: list[list[str]] = [[]] * len(self.places)
        slices, names = (
            nothing if column is None else [[as_text(name)] for name in column] for column in (self.slices, self.names)
        )
        first, called = (["slice"] if self.slices else []), (["name"] if self.names is not None else [])
        yield csv_line((*first, *self.columns, *called, *NUMBERS))
        for one, place, name, row in zip(slices, self.places.tolist(), names, self._rows(NUMBERS), strict=True):
            yield csv_line((*one, *map(repr, place), *name, *map(repr, row)))

    def records(self) -> list[dict[str, Any]]:
        """One record per area, for JSON.

        Null stands for an infinite bound.
        """
        fields = (*NUMBERS, *DEVIATIONS, "usable")
        rows = zip(self.places.tolist(), self._rows(fields), strict=True)
        found: list[dict[str, Any]] = [
            dict(zip((*self.columns, *fields), map(_bounded, (*place, *row)), strict=True)) for place, row in rows
        ]
        for label, column in (("name", self.names), ("slice", self.slices)):
            if column is not None:
                found = [{label: name, **each} for name, each in zip(column, found, strict=True)]
        return found

    def _rows(self, names: Sequence[str]) -> Iterator[tuple[float, ...]]:
        return zip(*(self.values[name].tolist() for name in names), strict=True)


def ask(synopsis: "Synopsis", rects: "NDArray[np.float64]", *, confidence: float) -> Answers:
    """What the synopsis says about rectangles."""
    return Answers(places=rects, **said_of(synopsis, synopsis.answer(rects, confidence=confidence), confidence))


def ask_polygons(
    synopsis: "Synopsis",
    features: "Features",
    *,
    confidence: float,
    area_name: str | None = None,
    whole: bool = False,
) -> Answers:
    """What the synopsis says about polygons."""
    import numpy as np

    names = features.called(area_name)
    answer = synopsis.answer_polygons(features, confidence=confidence, whole=whole)
    numbers = np.arange(len(features.features))[:, None]
    return Answers(places=numbers, columns=("feature",), names=names, **said_of(synopsis, answer, confidence))


def ask_areas(synopsis: "Synopsis", *, level: str | None, whole: bool, confidence: float) -> Answers:
    """What the synopsis says about its own areas, or its places."""
    import numpy as np

    if synopsis.partition.tiles and synopsis.places is None:
        raise click.UsageError(WHAT_TO_ASK)
    names, answer = synopsis.districts.answers(level, whole=whole, confidence=confidence)
    return Answers(places=np.empty((len(names), 0)), columns=(), names=names, **said_of(synopsis, answer, confidence))


def said_of(synopsis: "Synopsis", answer: "Answer", confidence: float) -> dict[str, Any]:
    """Values of answers, and what their readers must know."""
    from hushgrid.synopsis.facts import Facts

    facts = Facts.of(synopsis)
    return {
        "values": vars(answer),
        "confidence": confidence,
        "unit": facts.claim.unit,
        "covered": facts.covered,
        "caveats": facts.caveats,
    }


def _bounded(number: float) -> float | None:
    return number if math.isfinite(number) else None
