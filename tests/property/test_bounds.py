"""Bounds of any kind make a domain or rectangle, or a sentence whose way out works."""

import math
import shlex
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import hushgrid as hg
from hushgrid.cli.parameters import to_rects
from hushgrid.errors import ArgumentError
from hushgrid.geometry.rects import check_rects
from hushgrid.privacy.exact import exact_epsilon, exact_share
from hushgrid.release.advice import _exchanged
from hushgrid.synopsis.answer import normal_reach
from tests.newcomer.desk import hushgrid
from tests.strategies import domains

BOUNDS = ("west", "south", "east", "north")
LONGEST_MESSAGE = 700  # characters
TURNS = (0, 1, 45, 89.5, 90, 91, 95, 100, 128, 179, 180, 181, 360, 4e5, 5e6)
SYSTEMS = st.sampled_from(["OGC:CRS84", "EPSG:4326", "EPSG:32618", "EPSG:3857", "", "nowhere"])


def _in_other_types(number: float) -> list[object]:
    """One number as the types that Python users pass."""
    exact = Fraction(number)
    with np.errstate(over="ignore"):
        return [number, str(number), Decimal(number), exact, np.float64(number), np.float32(number), int(number)]


ANY_SIZE = st.floats(allow_nan=False, allow_infinity=False)
LIKELY = st.sampled_from(TURNS).flatmap(lambda turn: st.sampled_from([turn, -turn]))
NUMBERS = st.one_of(LIKELY, LIKELY, ANY_SIZE).flatmap(lambda number: st.sampled_from(_in_other_types(number)))
ODD_THINGS = [
    None, True, False, "", "here", "nan", "inf", "1e400", "9" * 10_000, b"1", math.nan, -math.inf, 10**400, 10**5_000,
    Fraction(10**5_000, 3), Decimal("sNaN"), Decimal("1e999999"), np.float64("nan"), np.datetime64("2020-01-01"),
    np.bool_(True), np.int8(1), np.complex128(1 + 1j), 1j, [1], np.array([1.0, 2.0]), object(), 5e-324, 1.8e308,
]  # fmt: skip
ODD = st.integers(0, len(ODD_THINGS) - 1).map(
    lambda number: ODD_THINGS[number]
)  # some have no repr, which sampled_from wants
FOUR_NUMBERS = st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
FOUR_THINGS = st.one_of(FOUR_NUMBERS, st.tuples(*[st.one_of(NUMBERS, NUMBERS, ODD)] * 4))
FEW = settings(max_examples=200, deadline=None)


def _sentence(error: ArgumentError) -> None:
    """Check that a complaint is one short line that ends as sentences do."""
    assert str(error).endswith(".")
    assert "\n" not in str(error)
    assert len(str(error)) < LONGEST_MESSAGE


@given(bounds=FOUR_THINGS, crs=SYSTEMS)
@example(bounds=(0, 0, 128, 128), crs="OGC:CRS84")
@example(bounds=(0, 0, 100, 100), crs="OGC:CRS84")
@example(bounds=(91, 91, 95, 95), crs="EPSG:4326")
@example(bounds=(0, 0, 5e-324, 1), crs="EPSG:32618")
@settings(max_examples=1_000, deadline=None)
def test_anything_makes_a_domain_or_a_sentence(bounds, crs):
    """Any bounds make a domain or a clear error, whose proposal is a domain."""
    try:
        domain = hg.Domain(**dict(zip(BOUNDS, bounds, strict=True)), crs=crs)
    except ArgumentError as error:
        _sentence(error)
        _check_ways(error, crs)
    else:
        west, south, east, north = domain.bounds
        assert west < east
        assert south < north
        assert 0 < 4096 / domain.width * domain.width < math.inf
        assert domain.width * domain.height > 0


def _check_ways(error: ArgumentError, crs: str) -> None:
    assert set(error.instead) <= {"domain"}
    for way in error.instead.values():
        assert isinstance(way, hg.Domain)
        assert hg.Domain(**dict(zip(BOUNDS, way.bounds, strict=True)), crs=crs) == way


@pytest.mark.parametrize("crs", [None, 4326, math.nan, ["EPSG:4326"], b"EPSG:4326", {}])
def test_a_system_that_is_not_text_is_refused(crs):
    """As a sentence about the system."""
    with pytest.raises(ArgumentError, match="crs must be a text") as caught:
        hg.Domain(west=0, south=0, east=1, north=1, crs=crs)
    _sentence(caught.value)


SEPARATORS = st.sampled_from([",", ", ", " ", ";", "; ", ",,", "\t"])
WRITTEN = st.lists(st.one_of(NUMBERS.map(str), st.text(max_size=5)), min_size=1, max_size=6)


@given(parts=WRITTEN, separator=SEPARATORS, crs=SYSTEMS)
@example(parts=["0", "0", "128", "128"], separator=" ", crs="OGC:CRS84")
@example(parts=["a", "b", "c", "d"], separator=";", crs="OGC:CRS84")
@FEW
def test_any_text_makes_a_domain_or_a_sentence(parts, separator, crs):
    """Any text makes a domain or a clear error, whose proposal can be read."""
    try:
        hg.Domain.parse(separator.join(parts), crs=crs)
    except ArgumentError as error:
        _sentence(error)
        for way in error.instead.values():
            assert isinstance(way, hg.Domain) or hg.Domain.parse(way, crs=crs)


@given(
    bounds=FOUR_NUMBERS, crs=st.sampled_from(["OGC:CRS84", "EPSG:32618"]), separator=st.sampled_from([",", " ", ";"])
)
@example(bounds=(0, 0, 128, 128), crs="OGC:CRS84", separator=",")
@example(bounds=(91, 91, 95, 95), crs="OGC:CRS84", separator=" ")
@example(bounds=(40.00000000000001, 2, 40.0, 1), crs="EPSG:32618", separator=",")
@example(bounds=(5000000.0, -1, 5000001.0, 0), crs="EPSG:32618", separator=",")
@FEW
def test_domains_on_the_command_line(bounds, crs, separator):
    """A command shown as the way out gets past its domain: what it lacks then is the file of points."""
    text = separator.join(map(str, bounds))
    command = f"hushgrid publish absent.csv --crs {crs} --epsilon 1 -o r.dp.parquet --domain={shlex.quote(text)}"
    code, offered = _run(command)

    assert code in (2, 3), "neither a bad argument nor a missing file"
    assert offered is None or _run(offered)[0] == 3, offered


@given(bounds=FOUR_NUMBERS)
@example(bounds=(40.00000000000001, 2, 40.0, 1))
@FEW
def test_rectangles_on_the_command_line(bounds):
    """A rectangle that the message offers is one."""
    from hushgrid.cli.parameters import typed_rects

    texts = (",".join(map(str, bounds)),)
    try:
        typed_rects(to_rects(None, None, texts))
    except ArgumentError as error:
        _sentence(error)
        for text in error.instead.values():
            assert typed_rects(to_rects(None, None, (text,))).shape == (1, 4)


@given(domain=domains())
@FEW
def test_an_exchanged_domain_is_one(domain):
    """Where a warning of few points in a domain offers it with longitude and latitude exchanged."""
    offered = _exchanged(domain).partition("the domain as ")[2]

    assert bool(offered) == (-90 <= domain.west < domain.east <= 90)
    if offered:
        west, south, east, north = domain.bounds
        assert hg.Domain.parse(offered).bounds == (south, west, north, east)


@given(bounds=FOUR_THINGS)
@example(bounds=(0, 0, 10**400, 1))
@example(bounds=(0, 0, 1, 1 + 1j))
@FEW
def test_anything_makes_a_rectangle_or_a_sentence(bounds):
    """Any values make a rectangle or a clear error."""
    try:
        west, south, east, north = check_rects([bounds])[0]
    except ArgumentError as error:
        _sentence(error)
    else:
        assert west < east
        assert south < north


@given(value=st.one_of(NUMBERS, ODD, st.sampled_from(["0,0", "-1,5", "0,1", "1,000", "99,9"])))
@example(value=99.99999999999999)
@FEW
def test_anything_makes_a_number_of_the_budget_or_a_sentence(value):
    """The brothers of the bounds that offer another value: budget, share and confidence."""
    for take, name in (
        (exact_epsilon, "epsilon"),
        (lambda it: exact_share(it, name="share"), "share"),
        (normal_reach, "confidence"),
    ):
        try:
            take(value)
        except ArgumentError as error:
            _sentence(error)
            if name in error.instead:
                take(error.instead[name])


def _run(command: str) -> tuple[int, str | None]:
    """Exit code, and the command shown as the way out."""
    result = hushgrid(command)
    first, *rest = result.stderr.splitlines()
    assert first.startswith("hushgrid: error: "), result.stderr
    return result.exit_code, rest[0].removeprefix("Try: ") if rest and rest[0].startswith("Try: ") else None
