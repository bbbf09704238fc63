"""One release a slice, together in one object."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
import shapely

import hushgrid as hg
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.answer import FLOOR_VARIANCE
from hushgrid.synopsis.claim import Claim
from tests.slices import AREAS, KINDS, PARTITIONS, SQUARE, some_slices
from tests.synopses import synopsis_on

RECTS = np.array([[0.0, 0.0, 1.0, 1.0], [0.1, 0.2, 0.6, 0.7], [0.4, 0.0, 0.45, 1.0]])


def test_a_slice_is_a_release():
    """By name, in order, with what all have in common."""
    slices = some_slices()

    assert list(slices) == list(slices.names) == ["car", "bike", "=bus"]
    assert slices["bike"] is slices.parts["bike"]
    assert slices.domain == SQUARE
    assert not slices.simulation
    assert repr(slices) == "<Slices by kind: car, bike, =bus; epsilon=1>"
    with pytest.raises(KeyError):
        slices["bus"]


@pytest.mark.parametrize("kind", PARTITIONS)
def test_every_slice_answers_as_itself(kind):
    """A row for each slice, with the answers of its release, for rectangles and polygons."""
    slices, polygons = some_slices(kind), [shapely.box(*rect) for rect in RECTS]
    by_rects, by_polygons = slices.answer(RECTS), slices.answer_polygons(polygons)
    for number, synopsis in enumerate(slices.values()):
        for name, values in vars(synopsis.answer(RECTS)).items():
            np.testing.assert_array_equal(getattr(by_rects, name)[number], values)
        np.testing.assert_array_equal(by_polygons.low[number], synopsis.answer_polygons(polygons).low)


def test_one_rectangle_has_one_number_a_slice():
    """Without a second axis; a sum is plain numbers."""
    slices = some_slices()

    assert slices.answer(RECTS[0]).estimate.shape == (3,)
    assert isinstance(slices.answer(RECTS[0], slices=["car", "bike"]).estimate, float)
    assert slices.answer(RECTS[:1], slices="car").estimate.shape == (1,)


def test_sums_of_estimates_and_of_noise():
    """Estimates and noise variances of independent slices add."""
    slices = some_slices()
    found = slices.answer(RECTS, slices=["car", "=bus"])
    parts = [slices[name].answer(RECTS) for name in ("car", "=bus")]

    np.testing.assert_allclose(found.estimate, sum(each.estimate for each in parts))
    np.testing.assert_allclose(found.noise_std**2, sum(each.noise_std**2 for each in parts))
    uneven, shared = [each.spread_std**2 - FLOOR_VARIANCE for each in parts], slices.common.spread
    together = (1 - shared) * sum(uneven) + shared * sum(map(np.sqrt, uneven)) ** 2
    np.testing.assert_allclose(found.spread_std**2, together + 2 * FLOOR_VARIANCE)
    assert np.all(found.high - found.estimate >= np.max([each.high - each.estimate for each in parts], axis=0))
    assert np.all(found.high - found.estimate <= sum(each.high - each.estimate for each in parts))


def test_a_sum_of_one_is_that_slice():
    """Whether it is named alone or in a list."""
    slices = some_slices()
    for name, values in vars(slices["bike"].answer(RECTS)).items():
        np.testing.assert_allclose(getattr(slices.answer(RECTS, slices=["bike"]), name), values)
        np.testing.assert_allclose(getattr(slices.answer(RECTS, slices="bike"), name), values)


def test_all_slices_lie_between_their_sum_and_the_total():
    """Nearer to the one that is known better: a total with much of the budget is nearly all there is."""
    slices = some_slices("grid")
    of_slices = replace(slices, total=None).answer(RECTS, slices=slices.names)
    found, alone = slices.answer(RECTS, slices=slices.names), slices.total.answer(RECTS)
    better = replace(slices, total=synopsis_on(PARTITIONS["grid"][0], epsilon=Fraction(8)))

    low, high = np.minimum(of_slices.estimate, alone.estimate), np.maximum(of_slices.estimate, alone.estimate)
    assert ((low <= found.estimate) & (found.estimate <= high)).all()
    assert (found.noise_std <= np.maximum(of_slices.noise_std, alone.noise_std)).all()
    near, far = (
        np.abs(better.answer(RECTS, slices=slices.names).estimate - each)
        for each in (better.total.answer(RECTS).estimate, of_slices.estimate)
    )
    assert (near < 0.5 * far).all()


def test_areas_of_slices():
    """Rows of every slice, and sums with the law of their noise, at every level."""
    slices = some_slices("areas", total=False)
    names, each = slices.areas("state")
    _, both = slices.areas("state", slices=["car", "bike"])

    assert names == ["S", "T"]
    assert each.estimate.shape == (3, 2)
    np.testing.assert_allclose(both.estimate, each.estimate[:2].sum(axis=0))
    np.testing.assert_allclose(both.noise_std**2, (each.noise_std[:2] ** 2).sum(axis=0))
    table = slices.table()
    assert table.column_names == ["slice", "name", "estimate", "low", "high", "usable"]
    assert table["slice"].to_pylist()[:4] == ["car"] * 3 + ["bike"]
    assert table["name"].to_pylist() == list(AREAS.names) * 3
    assert slices.totals().estimate == pytest.approx([each.total for each in slices.values()])
    assert slices.total_of_all().estimate == pytest.approx(sum(each.total for each in slices.values()))


def test_areas_need_areas():
    """Slices on cells have none."""
    with pytest.raises(ArgumentError, match="no named areas"):
        some_slices("grid").areas()


def test_cells_say_their_slice():
    """All cells of all slices, and not those of the total."""
    slices = some_slices()
    table = slices.cells(geometry=True)
    rows = table.filter(pa.compute.equal(table["slice"], "bike"))

    assert table.num_rows == sum(each.partition.cells for each in slices.values())
    np.testing.assert_array_equal(rows["count"], slices["bike"].counts)
    assert table.column_names[0] == "slice"


def test_synthetic_points_have_a_slice():
    """As many of each as its share of all, the same again for the same seed."""
    slices = some_slices("grid")
    table = slices.sample(1000, seed=4)
    totals = np.array([max(each.total, 0) for each in slices.values()])
    sizes = [table["slice"].to_pylist().count(name) for name in slices.names]

    assert table.column_names == ["slice", "longitude", "latitude"]
    assert np.abs(sizes - 1000 * totals / totals.sum()).max() <= 1
    assert table.equals(slices.sample(1000, seed=4))
    assert not table.equals(slices.sample(1000, seed=5))


def test_nothing_is_shared_out_evenly():
    """Where no slice has a count above zero."""
    grid = Grid(domain=SQUARE, rows=1, columns=1)
    slices = Slices(by=KINDS, parts={name: synopsis_on(grid, values=[-5]) for name in KINDS.names})

    assert sorted(slices.shares_of(4)) == [1, 1, 2]


def test_the_claim_of_all():
    """A record pays for its slice and for the total."""
    slices = some_slices()

    assert slices.claim.epsilon == 1
    assert sum(spend.epsilon for spend in slices.claim.spends) == 1
    assert some_slices(total=False).claim.epsilon == Fraction(9, 10)
    assert slices.shown("bike").claim == slices.claim
    assert slices.shown("bike").counts is slices["bike"].counts
    assert slices.shown().counts is slices.total.counts
    assert some_slices(total=False).shown().counts is not None


@pytest.mark.parametrize(
    ("names", "complaint"),
    [(["bus"], "no slice 'bus'"), ([], "at least one"), (["car", "car"], "none twice")],
)
def test_slices_that_are_not_there(names, complaint):
    """A misspelt name is put right."""
    with pytest.raises(ArgumentError, match=complaint) as error:
        some_slices().answer(RECTS, slices=names)
    if names == ["bus"]:
        assert error.value.instead == {"slice": "=bus"}


def test_an_hour_of_one_digit_is_put_right():
    """Seventeen is as near to 7 as 07 is, and another hour."""
    by = hg.By.time("at", "hour")
    part = synopsis_on(Grid(domain=SQUARE, rows=1, columns=1))
    with pytest.raises(ArgumentError, match="no slice '7'") as error:
        Slices(by=by, parts=dict.fromkeys(by.names, part)).answer(RECTS, slices=["7"])
    assert error.value.instead == {"slice": "07"}


def test_parts_must_fit_together():
    """Every slice, in order, of one domain and one guarantee."""
    slices = some_slices("grid")
    other_place = synopsis_on(Grid(domain=Domain(west=0, south=0, east=2, north=1), rows=1, columns=1))
    of_users = replace(slices["bike"], claim=Claim(epsilon=Fraction(1), unit="user", max_per_unit=3))
    with pytest.raises(ArgumentError, match="a release for each slice, in order"):
        Slices(by=KINDS, parts={name: slices[name] for name in ("bike", "car", "=bus")})
    for other in (other_place, of_users):
        with pytest.raises(ArgumentError, match="slice 'bike' differs"):
            Slices(by=KINDS, parts={**slices.parts, "bike": other})
    with pytest.raises(ArgumentError, match="the total differs"):
        Slices(by=KINDS, parts=slices.parts, total=other_place)


def test_confidence_is_checked_first():
    """As for one release."""
    with pytest.raises(ArgumentError, match="confidence must lie between"):
        some_slices().answer(RECTS, confidence=95)


def test_exported():
    """Under the names that are fixed."""
    assert hg.Slices is Slices
    assert hg.By("kind", values=["a"]).names == ("a",)
