"""Answers in JSON, of released values only."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

import numpy as np

from hushgrid.errors import LONGEST_QUOTE, ArgumentError
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import BOUNDS
from hushgrid.slices.slices import Slices, few
from hushgrid.synopsis.answer import Answer
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.polygons import PolygonQuestion
from hushgrid.web.questions import (
    ALL_TOGETHER,
    BODY_TOO_LARGE,
    LARGEST_BATCH,
    LARGEST_PAGE,
    MOST_VERTICES,
    NOT_FOUND,
    USUAL_PAGE,
    AskedSlices,
    Question,
    RefusalError,
    confidence_in_address,
    slices_in_address,
)
from hushgrid.web.shelf import Shelf, Shelved

ANSWER = ("estimate", "low", "high", "noise_std", "spread_std", "usable")
CELL = ("count", "std_error")
AREA = ("estimate", "low", "high", "usable")


def releases(shelf: Shelf) -> dict[str, Any]:
    """All releases: what each is and promises."""
    return {"releases": [_description(entry) for entry in shelf.entries.values()]}


def answers(entry: Shelved, question: Question) -> dict[str, Any]:
    """Estimates with intervals, in the order asked."""
    asked = Asked.of(entry, question.slices)
    asked.check(len(question.rects), LARGEST_BATCH, "rectangles")
    answer = entry.release.answer(question.rects, confidence=question.confidence, **asked.keywords)
    places = _records(BOUNDS, tuple(question.rects.T))
    return {
        **_meaning(entry),
        **asked.told,
        "confidence": question.confidence,
        "answers": asked.rows(places, ANSWER, answer),
    }


def cells(entry: Shelved, parameters: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """One page of leaf cells, and where the next is.

    In a release of slices, they are those of one slice.

    Cells come in the order of the partition, zeros too.
    """
    slices, pages = slices_in_address(parameters)
    asked = Asked.of(entry, slices)
    synopsis = _one_release(entry, slices)
    total = synopsis.partition.cells
    first, limit = _part(pages, total, others=("slice",) if asked.names else ())
    stop = min(first + limit, total)
    bounds = synopsis.partition.bounds(first, stop)
    counts, errors = synopsis.counts[first:stop], np.sqrt(synopsis.variances[first:stop])
    more = urlencode([("first", stop), ("limit", limit), *(("slice", name) for name in asked.names)])
    return {
        **_meaning(entry),
        **asked.told,
        "total": total,
        "first": first,
        "cells": _records((*BOUNDS, *CELL), (*bounds.T, counts, errors)),
        "next": f"cells?{more}" if stop < total else None,
    }


def areas(entry: Shelved, parameters: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Named areas of a level, in the order of their file.

    They may be a part of all.
    """
    partition = entry.shown.partition
    if not isinstance(partition, AreaPartition):
        msg = f"the release {entry.name!r} has cells and no named areas. Ask it about districts by "
        msg += f"POST /v1/{entry.name}/polygons."
        raise RefusalError(NOT_FOUND, msg)
    kept = list(parameters)
    slices, given = slices_in_address(kept)
    fields = dict(given)
    for name in ("level", "confidence"):
        if sum(other == name for other, _ in given) > 1:
            msg = f"{name} may be given once."
            raise ArgumentError(msg)
    level = partition.level_called(fields.get("level"))
    confidence = confidence_in_address([each for each in given if each[0] == "confidence"])
    asked = Asked.of(entry, slices)
    total = len(level.names)
    pages = [each for each in given if each[0] not in ("level", "confidence")]
    others = ("level", "confidence", *(("slice", "each") if asked.names else ()))
    most = max(LARGEST_PAGE // len(asked.names), 1) if asked.each else LARGEST_PAGE
    first, limit = _part(pages, total, usual=most, most=most, others=others)
    names, answer = _areas(entry.release, level.name, confidence, asked)
    stop = min(first + limit, total)
    more = [each for each in kept if each[0] not in ("first", "limit")]
    return {
        **_meaning(entry),
        **asked.told,
        "level": level.name,
        "levels": partition.level_names,
        "confidence": confidence,
        "total": total,
        "first": first,
        "areas": asked.rows([{"name": name} for name in names[first:stop]], AREA, answer, slice(first, stop)),
        "next": f"areas?{urlencode([*more, ('first', stop), ('limit', limit)])}" if stop < total else None,
    }


def polygon_answers(entry: Shelved, question: PolygonQuestion) -> dict[str, Any]:
    """The features that were asked about, with answers among their properties."""
    asked = Asked.of(entry, question.slices)
    asked.check(len(question.features), LARGEST_BATCH, "features")
    asked.check(question.vertices, MOST_VERTICES, "vertices")
    answer = entry.release.answer_polygons(question, confidence=question.confidence, **asked.keywords)
    rows = asked.rows([feature.get("properties") or {} for feature in question.features], ANSWER, answer)
    features = [
        {**feature, "type": "Feature", "properties": row} for feature, row in zip(question.features, rows, strict=True)
    ]
    return {
        "type": "FeatureCollection",
        **_meaning(entry),
        **asked.told,
        "confidence": question.confidence,
        "features": features,
    }


ALL_OF_THEM = slice(None)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The slices that a question is about, none of a release without slices.

    They are added up, or each has an answer of its own.
    """

    names: tuple[str, ...] = ()
    each: bool = False

    @classmethod
    def of(cls, entry: Shelved, slices: AskedSlices) -> Self:
        """What was asked for, if the release has it."""
        if isinstance(entry.release, Slices):
            names = entry.release.named(slices.names) if slices.names else entry.release.names
            return cls(names=tuple(names), each=slices.each)
        if slices != ALL_TOGETHER:
            msg = f"the release {entry.name!r} has no slices. Leave out what asks for some."
            raise ArgumentError(msg)
        return cls()

    def check(self, size: int, most: int, what: str) -> None:
        """Refuse more than fits in one request.

        Every slice is asked about all of it.
        """
        if size * len(self.names) > most:
            msg = (
                f"{size:,} {what} of {len(self.names):,} slices make {size * len(self.names):,}, and at most {most:,} "
            )
            msg += "fit in one request; ask in several, or about fewer slices."
            raise RefusalError(BODY_TOO_LARGE, msg)

    @property
    def keywords(self) -> dict[str, Any]:
        """How `Slices` is asked; nothing for a `Synopsis`."""
        return {"slices": None if self.each else self.names} if self.names else {}

    @property
    def told(self) -> dict[str, Any]:
        """Which slices the numbers are of."""
        return {"slices": list(self.names)} if self.names else {}

    def rows(
        self,
        places: Sequence[dict[str, Any]],
        columns: tuple[str, ...],
        answer: Answer,
        part: slice = ALL_OF_THEM,
    ) -> list[dict[str, Any]]:
        """Places with a part of an answer: numbers, or lists of them by slice."""
        values = [np.asarray(getattr(answer, name))[..., part] for name in columns]
        if not self.each:
            found = _records(columns, tuple(values))
            return [{**place, **row} for place, row in zip(places, found, strict=True)]
        by_slice = [
            [{"slice": name, **row} for row in _records(columns, tuple(value[number] for value in values))]
            for number, name in enumerate(self.names)
        ]
        return [{**place, "by_slice": list(rows)} for place, *rows in zip(places, *by_slice, strict=True)]


def _one_release(entry: Shelved, slices: AskedSlices) -> Synopsis:
    """The release, or the one slice that is named."""
    if not isinstance(entry.release, Slices):
        return entry.release
    if len(slices.names) != 1:
        names = entry.release.names
        msg = f"cells are those of one slice. The slices of {entry.name!r} are: {few(names)}."
        raise ArgumentError(msg, instead={"slice": names[0]})
    return entry.release[slices.names[0]]


def _areas(release: Synopsis | Slices, level: str, confidence: float, asked: Asked) -> tuple[list[str], Answer]:
    if isinstance(release, Slices):
        return release.areas(level, confidence=confidence, **asked.keywords)
    return release.districts.answers(level, confidence=confidence)


def _meaning(entry: Shelved) -> dict[str, Any]:
    """What numbers are numbers of: beside all of them."""
    facts = entry.facts
    return {
        "release": entry.name,
        "simulation": facts.claim.simulation,
        "counted": facts.counted,
        "caveats": list(facts.caveats),
    }


def _description(entry: Shelved) -> dict[str, Any]:
    facts, partition, release = entry.facts, entry.shown.partition, entry.release
    parts = [*release.values()] if isinstance(release, Slices) else [release]
    return {
        **_meaning(entry),
        "title": entry.title,
        "guarantee": facts.claim.sentence,
        "epsilon": float(facts.claim.epsilon),
        "unit": facts.claim.unit,
        "method": facts.method.name,
        "cells": sum(each.partition.cells for each in parts),
        "levels": partition.level_names if isinstance(partition, AreaPartition) else [],
        "slices": list(release.names) if isinstance(release, Slices) else [],
        "sliced": release.by.words() if isinstance(release, Slices) else None,
        "domain": {**dict(zip(BOUNDS, facts.domain.bounds, strict=True)), "crs": facts.domain.crs},
    }


def _records(names: tuple[str, ...], columns: tuple[Any, ...]) -> list[dict[str, Any]]:
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _part(
    parameters: Iterable[tuple[str, str]],
    total: int,
    *,
    usual: int = USUAL_PAGE,
    most: int = LARGEST_PAGE,
    others: tuple[str, ...] = (),
) -> tuple[int, int]:
    """First cell or area, and the number asked for.

    Messages name `others`, the parameters that there are besides.
    """
    asked = {"first": 0, "limit": usual}
    lowest, highest = {"first": 0, "limit": 1}, {"first": math.inf, "limit": most}
    for name, text in parameters:
        if name not in asked:
            there = ", ".join((*others, "first"))
            msg = f"unknown parameter {name[:LONGEST_QUOTE]!r}; there are {there} and limit."
            raise ArgumentError(msg)
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < LONGEST_QUOTE else -1
        if not lowest[name] <= number <= highest[name]:
            rule = f"from 1 to {most:,}" if name == "limit" else "of at least 0"
            msg = f"{name} must be a whole number {rule}, got {text[:LONGEST_QUOTE]!r}."
            raise ArgumentError(msg)
        asked[name] = number
    return min(asked["first"], total), asked["limit"]
