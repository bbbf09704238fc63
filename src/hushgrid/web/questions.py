"""Questions to the server: how they are read and limited."""

import json
import math
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hushgrid.errors import LONGEST_QUOTE, ArgumentError, HushgridError
from hushgrid.geometry.rects import check_rects

LARGEST_BODY = 1_000_000  # bytes: room for a full batch at full precision
LARGEST_BATCH = 10_000  # rectangles, or features
LARGEST_GEOJSON = 4_000_000  # bytes of polygons
MOST_VERTICES = 100_000  # of all polygons in a request
MOST_OF_ONE = 10_000  # vertices of one feature: each area that it meets is cut by all of them
POLYGONS_AT_ONCE = 2  # requests about polygons that are worked on; others wait, and all else is answered beside them
LARGEST_PAGE = 10_000  # cells, or areas
USUAL_PAGE = 1_000  # cells, where nobody says how many
LONGEST_QUERY = 8_000  # characters of an address behind the question mark
LOWEST_CONFIDENCE, HIGHEST_CONFIDENCE = 0.01, 0.9999
MOST_CONNECTIONS = 1_000
MOST_OF_ONE_CLIENT = 300  # connections: plenty for a proxy, through which everyone seems to be one client
IDLE_SECONDS = 5  # between an answer and the next request on the same connection
HEAD_SECONDS = 10  # for the head of a request, from the start of the connection or the last answer
BODY_SECONDS = 30  # for the body after it
READER_SECONDS = 60  # in which a client has to read some of its answer
SENT_AHEAD = 131_072  # bytes that the system takes before a client has read: with more, slow readers seem not to read


NOT_FOUND = 404
BODY_TOO_LARGE = 413
ADDRESS_TOO_LONG = 414


class RefusalError(HushgridError):
    """A refused request, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


CONFIDENCE = 0.95
MEMBERS = ("rects", "confidence", "slices", "each")
NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
EXAMPLE = '{"rects": [[-74, 40, -73, 41]], "confidence": 0.95}'


@dataclass(frozen=True)
class AskedSlices:
    """Slices of a release that are asked: some together, or each by itself.

    Without names, all of them.
    """

    names: tuple[str, ...] = ()
    each: bool = False

    def __post_init__(self) -> None:
        if self.names and self.each:
            msg = "name slices to add them up, or ask for each of them; not both."
            raise ArgumentError(msg)


ALL_TOGETHER = AskedSlices()


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """Rectangles, shape (n, 4), the confidence and the slices asked for."""

    rects: NDArray[np.float64]
    confidence: float
    slices: AskedSlices = ALL_TOGETHER


def slices_in_address(parameters: Iterable[tuple[str, str]]) -> tuple[AskedSlices, list[tuple[str, str]]]:
    """The slices of ``?slice=07&slice=08`` or of ``?each=true``, and all other parameters.

    Examples
    --------
    >>> slices_in_address([("slice", "07"), ("rect", "0,0,1,1"), ("slice", "08")])
    (AskedSlices(names=('07', '08'), each=False), [('rect', '0,0,1,1')])
    """
    given = list(parameters)
    each = [text for name, text in given if name == "each"]
    if len(each) > 1 or not {*each} <= {"true", "false"}:
        msg = "each must be true or false, and given once: with each=true, every slice has an answer of its own."
        raise ArgumentError(msg)
    asked = AskedSlices(tuple(text for name, text in given if name == "slice"), each == ["true"])
    return asked, [(name, text) for name, text in given if name not in ("slice", "each")]


def question_in_address(parameters: Iterable[tuple[str, str]]) -> Question:
    """The question of ``?rect=W,S,E,N&rect=...&confidence=0.95&slice=07``.

    Examples
    --------
    >>> question_in_address([("rect", "-74,40,-73,41"), ("confidence", ".9")])
    Question(rects=array([[-74.,  40., -73.,  41.]]), confidence=0.9, slices=AskedSlices(names=(), each=False))
    """
    rects: list[list[float]] = []
    confidence: list[float] = []
    slices, others = slices_in_address(parameters)
    for name, text in others:
        numbers = [float(part) if NUMBER.fullmatch(part) else math.nan for part in text.split(",")]
        match name:
            case "rect":
                rects.append(numbers)
            case "confidence":
                confidence += numbers
            case _:
                msg = f"unknown parameter {name[:LONGEST_QUOTE]!r}; there are rect=W,S,E,N, repeatable, confidence, "
                msg += "slice, repeatable, and each."
                raise ArgumentError(msg)
    if not rects:
        msg = "say which rectangles, with rect=W,S,E,N, as often as you like."
        raise ArgumentError(msg)
    return _question(rects, _once(confidence), slices)


def confidence_in_address(parameters: Iterable[tuple[str, str]]) -> float:
    """The confidence of ``?confidence=0.95``, where nothing else but slices can be asked."""
    given: list[float] = []
    for name, text in parameters:
        if name != "confidence":
            msg = f"unknown parameter {name[:LONGEST_QUOTE]!r}; there are confidence, slice, repeatable, and each."
            raise ArgumentError(msg)
        given.append(float(text) if NUMBER.fullmatch(text) else math.nan)
    return _checked(_once(given))


def _once(given: list[float]) -> float:
    """The confidence that was given, or the usual one."""
    if len(given) > 1:
        msg = "confidence must be one number, and given once."
        raise ArgumentError(msg)
    return given[0] if given else CONFIDENCE


def question_in_body(body: bytes) -> Question:
    """The question of ``{"rects": [[W, S, E, N], ...], "confidence": 0.95, "slices": ["07", "08"]}``.

    Examples
    --------
    >>> question_in_body(b'{"rects": [[-74, 40, -73, 41]]}').rects
    array([[-74.,  40., -73.,  41.]])
    """
    try:
        asked = json.loads(body.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        msg = f"the body must be JSON in UTF-8, which has no NaN and no Infinity, such as {EXAMPLE}."
        raise ArgumentError(msg) from None
    if not (isinstance(asked, dict) and isinstance(asked.get("rects"), list) and asked.keys() <= set(MEMBERS)):
        msg = "the body must be an object with a list of rects, maybe a confidence, slices or each, and nothing else: "
        msg += f"{EXAMPLE}."
        raise ArgumentError(msg)
    names, each = asked.get("slices", []), asked.get("each", False)
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names) and isinstance(each, bool)):
        msg = 'slices must be a list of names, such as ["07", "08"], and each true or false.'
        raise ArgumentError(msg)
    return _question(asked["rects"], asked.get("confidence", CONFIDENCE), AskedSlices(tuple(names), each))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _question(rects: list[Any], confidence: Any, slices: AskedSlices) -> Question:
    if len(rects) > LARGEST_BATCH:
        msg = f"at most {LARGEST_BATCH:,} rectangles fit in one request, got {len(rects):,}; ask in several."
        raise RefusalError(BODY_TOO_LARGE, msg)
    for row, rect in enumerate(rects):
        if not (isinstance(rect, list) and len(rect) == 4 and all(map(_is_number, rect))):
            msg = f"rectangle {row} must be four finite numbers: west, south, east, north."
            raise ArgumentError(msg)
    confidence = _checked(confidence)
    checked = check_rects(np.array(rects, np.float64).reshape(-1, 4))
    return Question(rects=checked, confidence=confidence, slices=slices)


def _checked(confidence: Any) -> float:
    """A confidence within the limits."""
    if not (_is_number(confidence) and LOWEST_CONFIDENCE <= confidence <= HIGHEST_CONFIDENCE):
        msg = f"confidence must be a number from {LOWEST_CONFIDENCE} to {HIGHEST_CONFIDENCE}, such as 0.95."
        raise ArgumentError(msg)
    return float(confidence)


def _is_number(value: object) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
