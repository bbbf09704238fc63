"""What cannot be compared is refused, and told why."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.geometry.grid import Grid
from hushgrid.synopsis.scale import Scale
from tests.districts import SHAPES, districts
from tests.plain import UNIT_SQUARE
from tests.synopses import some_values, synopsis_on


def release(seed=0, *, side=4, **bounds):
    """A release on a grid over a square, by default the unit square."""
    domain = hg.Domain(**{**dict(zip(("west", "south", "east", "north"), UNIT_SQUARE.bounds, strict=True)), **bounds})
    return hg.publish(
        np.full((100, 2), 0.5),
        domain=domain,
        epsilon=1,
        method=hg.UniformGrid(side=side),
        rng=hg.simulation_rng(seed),
    )


def in_metres():
    """A release in another reference system."""
    return synopsis_on(Grid(domain=replace(UNIT_SQUARE, crs="EPSG:32618"), rows=4, columns=4))


def of_users(seed, *, most=2, **claim):
    """The same release at user level."""
    made = release(seed)
    return replace(made, claim=replace(made.claim, unit="user", max_per_unit=most, **claim))


def scaled(synopsis, **scale):
    """Its counts scaled to a total."""
    return synopsis.scaled(Scale.to(500, synopsis.counts, **scale))


REFUSED = {
    "itself": (lambda: [release(1)] * 2, "one and the same"),
    "a copy": (lambda: [release(1), release(1)], "one and the same"),
    "domain": (lambda: [release(1), release(2, east=2)], "domains differ, 0,0,1,1 and 0,0,2,1"),
    "crs": (lambda: [release(1), in_metres()], "OGC:CRS84 and EPSG:32618"),
    "unit": (lambda: [release(1), of_users(2)], "protects each record, the second each user"),
    "K": (lambda: [of_users(1), of_users(2, most=3)], "at most 2 records of each user, the second 3"),
    "distinct": (lambda: [of_users(1), of_users(2, distinct=True)], "kept records, the second user-area pairs"),
    "kept and scaled": (
        lambda: [of_users(1), scaled(of_users(2), source="public")],
        "the first has counts of kept records, those of the second are scaled",
    ),
    "totals": (
        lambda: [scaled(of_users(1), source="public"), scaled(of_users(2), source="private", cap=9)],
        "totals of different kinds",
    ),
}


@pytest.mark.parametrize(("make", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_counts_that_do_not_mean_the_same_are_refused(make, reason):
    """With the reason, whichever comes first."""
    before, after = make()

    with pytest.raises(hg.ArgumentError, match=reason):
        hg.compare(before, after)
    with pytest.raises(hg.ArgumentError, match="cannot be compared"):
        hg.compare(after, before)


def test_equal_counts_by_chance_are_compared():
    """With little noise, two releases of what did not change may have the same counts."""
    before, after = (synopsis_on(districts(), epsilon=Fraction(9), values=[7] * len(SHAPES)) for _ in range(2))

    assert (hg.compare(before, after).table()["difference"].to_numpy() == 0).all()


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1, 3, 9])
def test_the_chance_of_equal_noise_is_bounded(epsilon):
    """By the sum of the squares of its probabilities."""
    ratio = math.exp(-epsilon)
    values = np.arange(-5000, 5001)
    probabilities = (1 - ratio) / (1 + ratio) * ratio ** np.abs(values)
    variance = (probabilities * values**2).sum()

    assert (probabilities**2).sum() <= 1 / math.sqrt(1 + 4 * variance)


def test_one_file_is_not_compared_with_itself(tmp_path):
    """Under any name that it has."""
    path = tmp_path / "one.dp.parquet"
    release(1).save(path, allow_simulation=True)
    (tmp_path / "other.dp.parquet").symlink_to(path)

    with pytest.raises(hg.ArgumentError, match="one and the same file"):
        hg.compare(path, tmp_path / "other.dp.parquet")


def test_releases_by_other_methods_can_be_compared():
    """Neither the grid nor the name of longitude and latitude has to be the same."""
    before, after = release(1, side=4), release(2, side=7, crs="EPSG:4326")

    assert hg.compare(before, after).answer([0.1, 0.1, 0.6, 0.6]).p_value > 0


@pytest.mark.parametrize("rate", [0, 1, -1, "x"])
def test_a_rate_is_a_share(rate):
    """Between none and all."""
    with pytest.raises(hg.ArgumentError, match="rate must lie between 0 and 1"):
        hg.compare(release(1), release(2), rate=rate)


def test_a_correction_is_one_of_two():
    """Others are refused by name."""
    with pytest.raises(hg.ArgumentError, match="one of bh, holm"):
        hg.compare(release(1), release(2), correction="none")


def on_areas(seed, partition=None):
    """A release on areas."""
    partition = partition or districts()
    return synopsis_on(partition, values=some_values(partition.cells, seed))


def test_areas_and_cells_have_no_table_in_common():
    """Polygons can be asked of both."""
    change = hg.compare(on_areas(1), release(2))

    with pytest.raises(hg.ArgumentError, match="one was counted on areas, the other on cells"):
        change.table()
    assert change.answer_polygons(shapely.box(0, 0, 0.5, 0.5)).before > 0


def test_cells_have_no_table():
    """They have a grid."""
    with pytest.raises(hg.ArgumentError, match="they were counted on cells"):
        hg.compare(release(1), release(2)).table()


def test_other_areas_have_no_table_in_common():
    """The reason says whether names or outlines differ."""
    from hushgrid.answering.areas import area_partition

    names = area_partition(list(SHAPES.values()), [f"{name}!" for name in SHAPES], UNIT_SQUARE)
    order = area_partition(list(SHAPES.values())[::-1], list(SHAPES)[::-1], UNIT_SQUARE)

    with pytest.raises(hg.ArgumentError, match="their names differ"):
        hg.compare(on_areas(1), on_areas(2, names)).table()
    with pytest.raises(hg.ArgumentError, match="not their outlines or their order"):
        hg.compare(on_areas(1), on_areas(2, order)).table()
