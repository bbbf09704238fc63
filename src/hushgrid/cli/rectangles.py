"""A CSV file of rectangles to ask about."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from hushgrid.cli.input_file import STANDARD_INPUT, check_input
from hushgrid.cli.parameters import LONGEST_QUOTE, Rect, parse_rect
from hushgrid.errors import ArgumentError, InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COLUMNS = ("west", "south", "east", "north")
LONGEST_LINE = 2**16  # characters


def read_rects(path: Path) -> "NDArray[np.float64]":
    """Rectangles of a CSV file, or of standard input for ``-``, shape (n, 4).

    A first line that names west, south, east and north says where they stand, and other columns are passed over;
    without one, a line holds the four in that order.
    """
    from hushgrid.geometry.rects import check_rects

    name = "standard input" if str(path) == STANDARD_INPUT else str(path)
    try:
        check_input(path)
        with click.open_file(str(path), encoding="utf-8-sig") as file:
            return check_rects(list(_parse(csv.reader(_lines(file)))))
    except OSError as error:
        msg = f"cannot read rectangles from {name}: {error.strerror}."
        raise InputError(msg) from None
    except (UnicodeDecodeError, csv.Error):
        msg = f"cannot read rectangles from {name}: it is not CSV text in UTF-8."
        raise InputError(msg) from None
    except ArgumentError as error:
        msg = f"cannot read rectangles from {name}: {error}"
        raise InputError(msg) from None


def _lines(file: IO[str]) -> Iterator[str]:
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            msg = f"a line has more than {LONGEST_LINE:,} characters."
            raise ArgumentError(msg)
        yield line


def _parse(lines: Iterator[list[str]]) -> Iterator[Rect]:
    places: list[int] | None = None
    for number, fields in enumerate(lines, start=1):
        if number == 1 and not set(COLUMNS).isdisjoint(_names(fields)):
            places = _places(_names(fields))
        elif any(fields):
            yield _rect(fields, places, number)


def _names(fields: list[str]) -> list[str]:
    return [field.strip().lower() for field in fields]


def _places(names: list[str]) -> list[int]:
    if any(names.count(column) != 1 for column in COLUMNS):
        msg = (
            f"the first line must name west, south, east and north once each, got {','.join(names)[:LONGEST_QUOTE]!r}."
        )
        raise ArgumentError(msg)
    return [names.index(column) for column in COLUMNS]


def _rect(fields: list[str], places: list[int] | None, number: int) -> Rect:
    chosen = fields if places is None else [fields[place] for place in places if place < len(fields)]
    try:
        return parse_rect(chosen)
    except ArgumentError as error:
        msg = f"line {number}: {error}"
        raise ArgumentError(msg) from None
