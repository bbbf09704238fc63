"""Pictures of text."""

import numpy as np
import pytest

from hushgrid.export.terminal import SHADES, text_picture
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from tests.districts import districts
from tests.synopses import synopsis_on

SQUARE = Domain(west=0, south=0, east=1, north=1, crs="EPSG:32618")


def of_counts(counts, domain=SQUARE):
    counts = np.asarray(counts, dtype=float)
    return synopsis_on(Grid(domain=domain, rows=counts.shape[0], columns=counts.shape[1]), values=counts.ravel())


def test_north_is_up_and_the_densest_is_darkest():
    """A dense corner in the north-east, a thin one in the south-west, and nothing between."""
    counts = np.zeros((16, 16))
    counts[12:, 12:], counts[:4, :4] = 5000, 60
    lines = text_picture(of_counts(counts), columns=16).split("\n")

    assert len(lines) == 8
    assert SHADES[-1] in lines[0][12:]
    assert lines[-1].strip()
    assert SHADES[-1] not in "".join(lines[4:])
    assert lines[4].strip() == ""


@pytest.mark.parametrize("values", [np.zeros((4, 4)), np.full((4, 4), -3.0)], ids=["zeros", "negative"])
def test_a_release_of_nothing_is_blank(values):
    """No division by zero, no shade."""
    assert text_picture(of_counts(values), columns=10).strip() == ""


def test_a_wide_domain_has_few_lines():
    """A letter is twice as high as wide, and a degree of longitude is shorter in the north."""
    wide = Domain(west=0, south=59, east=8, north=61)
    lines = text_picture(of_counts(np.full((4, 4), 900), wide), columns=40).split("\n")

    assert len(lines) == 10
    assert {len(line) for line in lines} == {40}


def test_areas_are_shaded_too():
    """By the density of each."""
    assert SHADES[-1] in text_picture(synopsis_on(districts()), columns=30)
