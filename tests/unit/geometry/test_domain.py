"""The domain: what it accepts, and what it says when it does not."""

import math

import pytest

from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain

NEW_YORK = {"west": -74.26, "south": 40.48, "east": -73.70, "north": 40.92}


def test_bounds_are_kept_in_the_order_of_geojson():
    """Bounds come as west, south, east, north."""
    assert Domain(**NEW_YORK).bounds == (-74.26, 40.48, -73.70, 40.92)


def test_text_is_read_as_written_on_the_command_line():
    """Negative numbers and blanks are fine."""
    assert Domain.parse("-74.26, 40.48, -73.70, 40.92") == Domain(**NEW_YORK)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"west": -73.0}, "west must be below east", id="inverted"),
        pytest.param({"north": 40.48}, "south must be below north", id="empty"),
        pytest.param({"east": math.inf}, "east must be a finite number", id="infinite"),
        pytest.param({"east": math.nan}, "east must be a finite number", id="nan"),
        pytest.param({"east": "here"}, "east='here'", id="text"),
        pytest.param({"west": 40, "south": -74, "east": 41, "north": 95}, "swapped", id="latitude-over-90"),
        pytest.param({"west": 170, "east": 190}, "180th meridian", id="across-the-antimeridian"),
        pytest.param({"west": 170, "east": -170}, "published as two", id="across-the-antimeridian-inverted"),
        pytest.param({"west": 40.0, "east": 40.00000000001}, "too narrow", id="a-hair-wide"),
    ],
)
def test_bad_domains_are_refused_in_words(change, words):
    """The message names the bound, the value and the way out."""
    with pytest.raises(ArgumentError, match=words):
        Domain(**{**NEW_YORK, **change})


@pytest.mark.parametrize("text", ["1,2,3", "1,2,3,4,5", "", "1;2;3;4"])
def test_text_that_is_not_four_numbers_is_refused(text):
    """The form W,S,E,N is named."""
    with pytest.raises(ArgumentError, match="W,S,E,N"):
        Domain.parse(text)


def test_a_projected_domain_may_hold_metres():
    """Degrees are checked for degrees only."""
    assert Domain(west=4e5, south=5e6, east=5e5, north=6e6, crs="EPSG:32633").width == 1e5
