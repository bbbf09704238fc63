"""Values of options, their completion, and files of rectangles."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import click
from click.shell_completion import CompletionItem

from hushgrid.cli.files import STANDARD_INPUT, check_input
from hushgrid.cli.text import warn
from hushgrid.errors import LONGEST_QUOTE, ArgumentError, InputError
from hushgrid.geometry.domain import BOUNDS, Domain, exact_text, number_of
from hushgrid.methods import METHODS
from hushgrid.release.auto import AUTO

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Rect = tuple[float, float, float, float]


def to_total(_context: click.Context, _parameter: click.Parameter, text: str | None) -> int | Literal["private"] | None:
    """Parse a total: a whole number, or ``private``."""
    if text is None:
        return None
    if text == "private":
        return "private"
    try:
        return int(text)
    except ValueError:
        msg = f"--scale-to-total must be a whole number or 'private', got {text!r}."
        meant = "private" if text.strip().lower() == "private" else whole_number(text)
        raise ArgumentError(msg, instead=None if meant is None else {"scale_to_total": meant}) from None


def whole_number(text: str) -> str | None:
    """A whole number that was written otherwise, if any.

    Examples
    --------
    >>> whole_number("2e3"), whole_number("100,000"), whole_number("1.5"), whole_number("many")
    ('2000', '100000', None, None)
    """
    number = number_of(text.replace(",", "").replace(" ", ""))
    return f"{number:.0f}" if number.is_integer() else None


def to_texts(_context: click.Context, _parameter: click.Parameter, text: str | None) -> tuple[str, ...] | None:
    """Parse texts with commas between them."""
    return None if text is None else tuple(part.strip() for part in text.split(","))


def to_slices(text: str | None, names: Sequence[str]) -> list[str] | None:
    """Parse names of slices with commas between them.

    Names may have commas, too: the longest that fits is taken.

    Examples
    --------
    >>> to_slices("07,08", ["07", "08"]), to_slices("Bed, bath,Food", ["Bed, bath", "Food"])
    (['07', '08'], ['Bed, bath', 'Food'])
    """
    if text is None:
        return None
    known, parts, found = set(names), text.split(","), list[str]()
    longest = 1 + max(name.count(",") for name in names)
    while parts:
        starts = {stop: ",".join(parts[:stop]).strip() for stop in range(min(longest, len(parts)), 0, -1)}
        stop = next((stop for stop, start in starts.items() if start in known), 1)
        found.append(starts[stop])
        parts = parts[stop:]
    return found


def to_rects(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> list[Rect]:
    """Parse rectangles written as ``W,S,E,N``."""
    return [parse_rect(text.split(",")) for text in texts]


def parse_rect(parts: list[str]) -> Rect:
    """Parse west, south, east and north.

    Whether they make a rectangle is checked later, for all of them together.

    Examples
    --------
    >>> parse_rect(["-74", "40", " -73", "41.5"])
    (-74.0, 40.0, -73.0, 41.5)
    """
    try:
        west, south, east, north = map(float, parts)
    except ValueError:
        msg = f"a rectangle must be four numbers W,S,E,N separated by commas, got {','.join(parts)[:LONGEST_QUOTE]!r}."
        raise ArgumentError(msg) from None
    return west, south, east, north


def example(*commands: str) -> str:
    """Example commands for the end of a help text."""
    # The backspace keeps click from wrapping the lines.
    return "\n".join(["\b", "Example:", *(f"  hushgrid {command}" for command in commands)])


def complete_method(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Methods whose names begin like this."""
    return [CompletionItem(name) for name in (AUTO, *METHODS) if name.startswith(incomplete)]


def complete_file(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a file where other values are allowed too."""
    return [CompletionItem(incomplete, type="file")]


COLUMNS = BOUNDS  # of a file of rectangles
LONGEST_LINE = 2**16  # characters


def read_rects(path: Path) -> "NDArray[np.float64]":
    """Read rectangles from a CSV file, shape (n, 4).

    ``-`` is standard input.

    A first line may name the columns west, south, east and north; other columns are ignored. Without such a line,
    every line holds the four in that order.
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


def typed_rects(rects: list[Rect]) -> "NDArray[np.float64]":
    """Rectangles of the --rect options, shape (n, 4)."""
    from hushgrid.geometry.rects import check_rects

    try:
        return check_rects(rects)
    except ArgumentError as error:
        if len(rects) > 1:
            raise
        ((west, south, east, north),) = rects
        ordered = (min(west, east), min(south, north), max(west, east), max(south, north))
        is_rect = ordered[0] < ordered[2] and ordered[1] < ordered[3]
        raise ArgumentError(error.complaint, instead={"rect": exact_text(ordered)} if is_rect else None) from None


def warn_of_outside(rects: "NDArray[np.float64]", domain: Domain) -> None:
    """Warn of a rectangle outside the domain.

    Swapped coordinates are the usual cause.
    """
    from hushgrid.geometry.rects import area_shares

    outside = area_shares(rects, domain) == 0
    if not outside.any():
        return
    number = int(outside.argmax())
    west, south, east, north = rects[number].tolist()
    others = f" So do {int(outside.sum()) - 1:,} more." if outside.sum() > 1 else ""
    text = f"rectangle {number} ({_text(rects[number])}) lies outside the domain {_text(domain.bounds)}, where nothing "
    text += f"was counted.{others}"
    if area_shares(rects[[number]][:, [1, 0, 3, 2]], domain)[0] > 0:
        text += f" Are longitude and latitude swapped? --rect {exact_text((south, west, north, east))} lies inside."
    warn(text)


def _text(bounds: Iterable[float]) -> str:
    return ",".join(f"{bound:.12g}" for bound in bounds)


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
