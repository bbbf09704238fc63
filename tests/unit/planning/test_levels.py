"""The plan for areas in levels: errors that releases then have."""

from fractions import Fraction

import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.errors import ArgumentError
from hushgrid.planning.levels import plan_levels
from tests.plain import UNIT_SQUARE

STRIPS = 30
COLUMNS = {
    "geometry": [shapely.box(number / STRIPS, 0, (number + 1) / STRIPS, 1) for number in range(STRIPS)],
    "state": [f"state {number // 7}" for number in range(STRIPS)],
    "county": [f"county {number}" for number in range(STRIPS)],
}
LEVELS = ["state", "county"]
AREAS = hg.Areas(COLUMNS, levels=LEVELS).public_partition(UNIT_SQUARE)


def half_widths(shares, epsilon, **users):
    """Median half width of the intervals of a release, by level, and that of all areas together."""
    method = hg.Areas(COLUMNS, levels=LEVELS, shares=shares) if 0 not in shares else hg.Areas(COLUMNS, names="county")
    synopsis = hg.publish(
        np.full((10_000, 2), 0.5), domain=UNIT_SQUARE, epsilon=epsilon, method=method, rng=hg.simulation_rng(1), **users
    )
    names = synopsis.partition.names
    if 0 in shares:
        states = [[name for name, state in zip(names, COLUMNS["state"], strict=True) if state == f"state {number}"]
                  for number in range(5)]  # fmt: skip
    else:
        states = [[f"state {number}"] for number in range(5)]
    groups = [states, [[name] for name in names], [names]]
    answers = [[synopsis.total_of(group) for group in each] for each in groups]
    return [float(np.median([answer.high - answer.estimate for answer in each if answer.high])) for each in answers]


@pytest.mark.parametrize("users", [1, 4])
def test_every_split_has_the_errors_of_releases_with_it(users):
    """Whatever is counted: intervals are as wide as planned."""
    made = plan_levels(AREAS, epsilon=0.02, max_per_user=users, shares=(Fraction(1, 3), Fraction(2, 3)))
    kept = {"user": np.arange(10_000), "max_per_user": users} if users > 1 else {}

    assert {split.mark for split in made.splits} == {"", "default", "given"}
    for split in made.splits:
        found = half_widths(split.shares, "0.02", **kept)
        assert found == pytest.approx([*split.reaches, split.total_reach], rel=0.02), split.shares


def test_splits_go_from_the_coarsest_level_to_the_finest():
    """What districts gain, states lose, but for a share so small that their parts tell more of them."""
    made = plan_levels(AREAS, epsilon=1)
    coarse, fine = zip(*(split.reaches for split in made.splits), strict=True)

    assert list(coarse[:-1]) == sorted(coarse[:-1])
    assert list(fine) == sorted(fine, reverse=True)
    assert {sum(split.shares) for split in made.splits} == {1}
    assert made.chosen.shares == hg.Areas(COLUMNS, levels=LEVELS).shares_of(AREAS)


def test_flat_areas_have_one_split():
    """All of the budget goes to them."""
    (split,) = plan_levels(hg.Areas(COLUMNS, names="county").public_partition(UNIT_SQUARE), epsilon=1).splits

    assert (split.shares, split.mark) == ((Fraction(1),), "default")


@pytest.mark.parametrize(("given", "words"), [({"epsilon": 0}, "epsilon"), ({"max_per_user": 0}, "max_per_user")])
def test_figures_that_make_no_sense_are_refused(given, words):
    """As by publish."""
    with pytest.raises(ArgumentError, match=words):
        plan_levels(AREAS, **{"epsilon": 1, **given})
