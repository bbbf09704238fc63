"""Which columns hold the coordinates."""

import pytest

from hushgrid.counting.columns import check_column_arguments, find_columns
from hushgrid.errors import ArgumentError, InputError
from hushgrid.files.columns import USUAL_NAMES


@pytest.mark.parametrize("change", [str.lower, str.upper, str.title])
@pytest.mark.parametrize("pair", USUAL_NAMES)
def test_usual_names_are_recognised_in_any_case(pair, change):
    """Each usual pair is found, as it is written."""
    names = [change(name) for name in pair]

    assert find_columns(["id", *reversed(names)], where="t") == tuple(names)


def test_given_names_win_over_usual_ones():
    """Names that are given are taken as they are, whatever else there is."""
    assert find_columns(["lon", "lat", "a", "b"], lon="a", lat="b", where="t") == ("a", "b")
    assert find_columns(["lon", "lat", "shape"], geometry="shape", where="t") == ("shape",)


def test_a_declared_geometry_is_the_last_resort():
    """Two usual columns come before the declared geometry, which comes before an error."""
    assert find_columns(["lon", "lat", "g"], primary_geometry="g", where="t") == ("lon", "lat")
    assert find_columns(["lon", "g"], primary_geometry="g", where="t") == ("g",)


@pytest.mark.parametrize(
    "names",
    [["lon", "lat", "x", "y"], ["lon", "LON", "lat"], ["lon", "lng", "lat"]],
    ids=["two pairs", "two cases", "two longitudes"],
)
def test_more_than_one_pair_is_an_error_that_lists_them(names):
    """Two usual pairs are an error, which lists both."""
    with pytest.raises(InputError, match="more than one pair") as caught:
        find_columns(names, where="trips.csv")

    assert all(repr(name) in str(caught.value) for name in names)


ERRORS = {
    "missing longitude": ({"lon": "a", "lat": "n"}, "trips.csv has no column 'a'. Its columns are: 'n', 'm', 'm'."),
    "missing geometry": ({"geometry": "g"}, "has no column 'g'"),
    "case differs": ({"lon": "N", "lat": "m"}, "has no column 'N'"),
    "two of that name": ({"lon": "n", "lat": "m"}, "more than one column 'm'"),
    "no usual names": ({}, "no columns known as coordinates"),
    "declared geometry is not there": ({"primary_geometry": "g"}, "has no column 'g'"),
}


@pytest.mark.parametrize(("given", "message"), ERRORS.values(), ids=ERRORS)
def test_columns_that_are_not_there_are_named(given, message):
    """The message says what is missing and what there is, on one line."""
    with pytest.raises(InputError) as caught:
        find_columns(["n", "m", "m"], where="trips.csv", **given)

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


ARGUMENTS = {
    "longitude alone": {"lon": "a"},
    "latitude alone": {"lat": "a"},
    "one column for both": {"lon": "a", "lat": "a"},
    "columns and geometry": {"lon": "a", "lat": "b", "geometry": "g"},
}


@pytest.mark.parametrize("given", ARGUMENTS.values(), ids=ARGUMENTS)
def test_names_that_contradict_each_other_are_refused(given):
    """Half a pair of names is refused, and so is a pair beside a geometry."""
    with pytest.raises(ArgumentError):
        check_column_arguments(**{"lon": None, "lat": None, "geometry": None, **given})


@pytest.mark.parametrize("names", [["lon", "lon", "lat"], ["lon", "lat", "lat"]])
def test_a_pair_that_is_there_twice_cannot_be_named(names):
    """It has to be renamed; naming it would be refused as well."""
    with pytest.raises(InputError, match=r"more than one column 'l(on|at)'\. Rename all but one") as caught:
        find_columns(names, where="trips.csv")

    assert not caught.value.instead


def test_a_long_list_of_columns_is_cut():
    """A message lists forty columns at most."""
    with pytest.raises(InputError, match="and 60 more"):
        find_columns([f"c{i}" for i in range(100)], where="t")
