"""Answers in JSON, of released values only."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from hushgrid.errors import ArgumentError
from hushgrid.web.questions import LARGEST_PAGE, LONGEST_QUOTE, USUAL_PAGE, Question
from hushgrid.web.shelf import Shelf, Shelved

BOUNDS = ("west", "south", "east", "north")
ANSWER = ("estimate", "low", "high", "noise_std", "spread_std", "usable")
CELL = ("count", "std_error")


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
    facts = entry.facts
    return {
        **_meaning(entry),
        "title": entry.title,
        "guarantee": facts.claim.sentence,
        "epsilon": float(facts.claim.epsilon),
        "unit": facts.claim.unit,
        "method": facts.method.name,
        "cells": facts.cells,
        "domain": {**dict(zip(BOUNDS, facts.domain.bounds, strict=True)), "crs": facts.domain.crs},
    }


def _records(names: tuple[str, ...], columns: tuple[Any, ...]) -> list[dict[str, Any]]:
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _part(parameters: Iterable[tuple[str, str]], total: int) -> tuple[int, int]:
    """First cell and number of cells asked for."""
    asked = {"first": 0, "limit": USUAL_PAGE}
    lowest, highest = {"first": 0, "limit": 1}, {"first": math.inf, "limit": LARGEST_PAGE}
    for name, text in parameters:
        if name not in asked:
            msg = f"unknown parameter {name[:LONGEST_QUOTE]!r}; there are first and limit."
            raise ArgumentError(msg)
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < LONGEST_QUOTE else -1
        if not lowest[name] <= number <= highest[name]:
            rule = f"from 1 to {LARGEST_PAGE:,}" if name == "limit" else "of at least 0"
            msg = f"{name} must be a whole number {rule}, got {text[:LONGEST_QUOTE]!r}."
            raise ArgumentError(msg)
        asked[name] = number
    return min(asked["first"], total), asked["limit"]
