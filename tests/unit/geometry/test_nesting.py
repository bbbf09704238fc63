"""Areas in levels: names, order, and the tree they make."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError
from hushgrid.geometry.nesting import AreaLevel, Nesting, branches_of, check_levels

COUNTIES = ["Kent", "Clay", "Kent", "Kent", "Loving"]
STATES = ["Ohio", "Utah", "Utah", "Ohio", "Texas"]
REGIONS = ["East", "West", "West", "East", "West"]


def test_areas_of_one_parent_come_together_and_else_as_they_came():
    """Parents come in the order of their first part."""
    nesting = Nesting.of(COUNTIES, {"region": REGIONS, "state": STATES}, "abcde")

    assert nesting.order.tolist() == [0, 3, 1, 2, 4]
    assert nesting.names == ("Ohio / Kent (a)", "Ohio / Kent (d)", "Utah / Clay", "Utah / Kent", "Texas / Loving")
    assert [(level.names, level.starts.tolist()) for level in nesting.levels] == [
        (("East", "West"), [0, 2, 5]),
        (("Ohio", "Utah", "Texas"), [0, 2, 4, 5]),
    ]


def test_names_that_differ_stay_as_they_are():
    """A path is only for those that repeat."""
    assert Nesting.of(["Kent", "Clay"], {"state": ["Ohio", "Utah"]}).names == ("Kent", "Clay")


def test_a_parent_of_two_parents_is_refused():
    """By the numbers of both features, with a way out."""
    with pytest.raises(
        ArgumentError, match="state 'Ohio' lies in region 'East' by feature 0, and in 'West' by feature 2"
    ):
        Nesting.of(["a", "b", "c"], {"region": ["East", "East", "West"], "state": ["Ohio", "Iowa", "Ohio"]})


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_the_tree_has_every_area_as_a_run_of_leaves(paths):
    """Whatever the levels are; areas with one part are one node with it."""
    top, middle = [f"r{one}" for one, _ in paths], [f"r{one}s{other}" for one, other in paths]
    nesting = Nesting.of([str(number) for number in range(len(paths))], {"region": top, "state": middle})
    tree = branches_of(nesting.levels, len(paths))
    runs = {(int(first), int(stop)) for first, stop in zip(*tree.runs, strict=True)}
    edges = [level.starts.tolist() for level in nesting.levels]
    wanted = {run for starts in edges for run in itertools.pairwise(starts)}

    assert runs == wanted | {(0, len(paths))} | {(place, place + 1) for place in range(len(paths))}
    assert tree.nodes == len(runs)
    assert tree.runs[0][tree.leaves].tolist() == list(range(len(paths)))


BAD = {
    "no whole areas": ([[0, 3, 4], [0, 2, 4]], "'a' are not made of whole areas"),
    "an empty area": ([[0, 0, 4]], "not made of whole areas"),
    "too few": ([[0, 2]], "not made of whole areas"),
}


@pytest.mark.parametrize(("starts", "words"), BAD.values(), ids=BAD)
def test_levels_that_do_not_nest_are_refused(starts, words):
    """The message names the level."""
    levels = [
        AreaLevel(name=name, names=tuple(str(number) for number in range(len(each) - 1)), starts=np.array(each))
        for name, each in zip("ab", starts, strict=False)
    ]
    with pytest.raises(ArgumentError, match=words):
        check_levels(levels, "area", 4)


def test_names_of_levels_and_their_areas_differ():
    """Else nobody could ask for one."""
    twice = AreaLevel(name="area", names=("x", "y"), starts=np.array([0, 1, 2]))
    with pytest.raises(ArgumentError, match="tell them apart"):
        check_levels([twice], "area", 2)
    with pytest.raises(ArgumentError, match="'a' need names"):
        check_levels([AreaLevel(name="a", names=("x", "x"), starts=np.array([0, 1, 2]))], "area", 2)
