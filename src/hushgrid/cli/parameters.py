"""The values that the commands take, made from their text."""

from collections.abc import Iterable
from typing import Literal

import click

from hushgrid.errors import LONGEST_QUOTE, ArgumentError
from hushgrid.geometry.domain import Domain

Rect = tuple[float, float, float, float]


def to_domain(_context: click.Context, _parameter: click.Parameter, text: str) -> Domain:
    """The domain written as ``W,S,E,N``."""
    return Domain.parse(text)


def to_total(_context: click.Context, _parameter: click.Parameter, text: str | None) -> int | Literal["private"] | None:
    """A total to scale to: a whole number, or ``private``."""
    if text is None:
        return None
    if text == "private":
        return "private"
    try:
        return int(text)
    except ValueError:
        msg = f"--scale-to-total must be a whole number or 'private', got {text!r}."
        raise ArgumentError(msg) from None


def to_rects(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> list[Rect]:
    """The rectangles, each written as ``W,S,E,N``."""
    return [parse_rect(text.split(",")) for text in texts]


def parse_rect(parts: list[str]) -> Rect:
    """Four numbers: west, south, east, north. Whether they make a rectangle is checked where all of them are known.

    Examples
    --------
    >>> parse_rect(["-74", "40", " -73", "41.5"])
    (-74.0, 40.0, -73.0, 41.5)
    """
    try:
        west, south, east, north = map(float, parts)
    except ValueError:
        msg = f"a rectangle is four numbers W,S,E,N separated by commas, got {','.join(parts)[:LONGEST_QUOTE]!r}."
        raise ArgumentError(msg) from None
    return west, south, east, north


def exact_text(bounds: Iterable[float]) -> str:
    """Bounds as ``W,S,E,N``, which reads back as the same numbers.

    Examples
    --------
    >>> exact_text((-74.0, 40.25, -73.0, 41.0))
    '-74,40.25,-73,41'
    """
    return ",".join(repr(float(bound)).removesuffix(".0") for bound in bounds)


def example(*commands: str) -> str:
    """The end of a help text: commands as they are typed."""
    # The backspace keeps click from wrapping the lines.
    return "\n".join(["\b", "Example:", *(f"  hushgrid {command}" for command in commands)])
