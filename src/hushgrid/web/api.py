"""Answers in JSON, of released values only."""

import math
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

import numpy as np

from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import AreaPartition
from hushgrid.web.polygons import PolygonQuestion
from hushgrid.web.questions import (
    LARGEST_PAGE,
    LONGEST_QUOTE,
    NOT_FOUND,
    USUAL_PAGE,
    Question,
    RefusalError,
    confidence_in_address,
)
from hushgrid.web.shelf import Shelf, Shelved

BOUNDS = ("west", "south", "east", "north")
ANSWER = ("estimate", "low", "high", "noise_std", "spread_std", "usable")
CELL = ("count", "std_error")
AREA = ("estimate", "low", "high", "usable")


def releases(shelf: Shelf) -> dict[str, Any]:
    """All releases: what each is and promises."""
    return {"releases": [_description(entry) for entry in shelf.entries.values()]}


def answers(entry: Shelved, question: Question) -> dict[str, Any]:
    """Estimates with intervals, in the order asked."""
    answer = entry.synopsis.answer(question.rects, confidence=question.confidence)
    columns = (*question.rects.T, *(getattr(answer, name) for name in ANSWER))
    return {
        **_meaning(entry),
        "confidence": question.confidence,
        "answers": _records((*BOUNDS, *ANSWER), columns),
    }


def cells(entry: Shelved, parameters: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """One page of leaf cells, and where the next is.

    Cells come in the order of the partition, zeros too.
    """
    synopsis = entry.synopsis
    total = synopsis.partition.cells
    first, limit = _part(parameters, total)
    stop = min(first + limit, total)
    bounds = synopsis.partition.bounds(first, stop)
    counts, errors = synopsis.counts[first:stop], np.sqrt(synopsis.variances[first:stop])
    return {
        **_meaning(entry),
        "total": total,
        "first": first,
        "cells": _records((*BOUNDS, *CELL), (*bounds.T, counts, errors)),
        "next": f"cells?first={stop}&limit={limit}" if stop < total else None,
    }


def areas(entry: Shelved, parameters: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The named areas of a level, or a part of them, in the order of their file."""
    partition = entry.synopsis.partition
    if not isinstance(partition, AreaPartition):
        msg = f"the release {entry.name!r} has cells and no named areas. Ask it about districts by "
        msg += f"POST /v1/{entry.name}/polygons."
        raise RefusalError(NOT_FOUND, msg)
    given = list(parameters)
    asked = dict(given)
    for name in ("level", "confidence"):
        if sum(other == name for other, _ in given) > 1:
            msg = f"{name} may be given once."
            raise ArgumentError(msg)
    level = partition.level_called(asked.get("level"))
    confidence = confidence_in_address([each for each in given if each[0] == "confidence"])
    total = len(level.names)
    pages = [each for each in given if each[0] not in ("level", "confidence")]
    first, limit = _part(pages, total, usual=LARGEST_PAGE, others=("level", "confidence"))
    names, answer = entry.synopsis.districts.answers(level.name, confidence=confidence)
    stop = min(first + limit, total)
    columns = (np.array(names, object), *(np.asarray(getattr(answer, name)) for name in AREA))
    more = urlencode({**asked, "first": stop, "limit": limit})
    return {
        **_meaning(entry),
        "level": level.name,
        "levels": partition.level_names,
        "confidence": confidence,
        "total": total,
        "first": first,
        "areas": _records(("name", *AREA), tuple(column[first:stop] for column in columns)),
        "next": f"areas?{more}" if stop < total else None,
    }


def polygon_answers(entry: Shelved, question: PolygonQuestion) -> dict[str, Any]:
    """The features that were asked about, with answers among their properties."""
    answer = entry.synopsis.answer_polygons(question, confidence=question.confidence)
    rows = _records(ANSWER, tuple(getattr(answer, name) for name in ANSWER))
    features = [
        {**feature, "type": "Feature", "properties": {**(feature.get("properties") or {}), **row}}
        for feature, row in zip(question.features, rows, strict=True)
    ]
    return {"type": "FeatureCollection", **_meaning(entry), "confidence": question.confidence, "features": features}


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
    facts, partition = entry.facts, entry.synopsis.partition
    return {
        **_meaning(entry),
        "title": entry.title,
        "guarantee": facts.claim.sentence,
        "epsilon": float(facts.claim.epsilon),
        "unit": facts.claim.unit,
        "method": facts.method.name,
        "cells": facts.cells,
        "levels": partition.level_names if isinstance(partition, AreaPartition) else [],
        "domain": {**dict(zip(BOUNDS, facts.domain.bounds, strict=True)), "crs": facts.domain.crs},
    }


def _records(names: tuple[str, ...], columns: tuple[Any, ...]) -> list[dict[str, Any]]:
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _part(
    parameters: Iterable[tuple[str, str]], total: int, *, usual: int = USUAL_PAGE, others: tuple[str, ...] = ()
) -> tuple[int, int]:
    """First cell or area, and number of them asked for; there are `others` to ask by, in a message."""
    asked = {"first": 0, "limit": usual}
    lowest, highest = {"first": 0, "limit": 1}, {"first": math.inf, "limit": LARGEST_PAGE}
    for name, text in parameters:
        if name not in asked:
            there = ", ".join((*others, "first"))
            msg = f"unknown parameter {name[:LONGEST_QUOTE]!r}; there are {there} and limit."
            raise ArgumentError(msg)
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < LONGEST_QUOTE else -1
        if not lowest[name] <= number <= highest[name]:
            rule = f"from 1 to {LARGEST_PAGE:,}" if name == "limit" else "of at least 0"
            msg = f"{name} must be a whole number {rule}, got {text[:LONGEST_QUOTE]!r}."
            raise ArgumentError(msg)
        asked[name] = number
    return min(asked["first"], total), asked["limit"]
