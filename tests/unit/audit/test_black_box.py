"""Neighbours of the black box: each on the edge that it is said to be on, and told apart as far as runs allow."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.audit.black_box import (
    FAR,
    SIZED,
    SPOT,
    Neighbours,
    last_before_a_change,
    many_at_once,
    on_a_cell_edge,
    on_a_size_edge,
    pairs,
    publications,
)
from hushgrid.audit.check import Setting, Verdict
from hushgrid.audit.estimator import epsilon_lower_bound, largest_bound
from hushgrid.audit.view import VIEWS
from hushgrid.geometry.guidelines import guideline_side, leaf_sides
from hushgrid.methods import METHODS
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.privacy.bits import simulation_rng

HALF = Fraction(1, 2)


def setting(epsilon=1, *, methods=("ug",), runs=50):
    """An audit to be made."""
    return Setting(methods=methods, epsilon=Fraction(epsilon), runs=runs, rng=simulation_rng(1))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 3])
def test_a_size_edge_is_an_edge_of_the_guideline(epsilon):
    """With half of epsilon for the counts."""
    edge = on_a_size_edge(UniformGrid()).edge(setting(epsilon))

    assert guideline_side(edge, HALF * epsilon) != guideline_side(edge + 1, HALF * epsilon)


@pytest.mark.parametrize("name", SIZED)
def test_one_record_more_changes_the_structure_of_every_sized_method(name):
    """If its true number sizes the grid, given as public here."""
    edge = on_a_size_edge(SIZED[name]).edge(setting())
    regions = []
    for size in (edge, edge + 1):
        (release,) = publications((FAR,), 1, HALF, SIZED[name], public_size=size)
        regions.append((len(release.measurements.regions.first), release.partition.cells))

    assert regions[0] != regions[1]


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 3])
def test_a_cell_edge_is_an_edge_of_the_guideline(epsilon):
    """One record more, and the cell is divided."""
    edge = on_a_cell_edge().edge(setting(epsilon))

    assert leaf_sides(np.array([edge, edge + 1]), HALF * Fraction(epsilon)).tolist() == [1, 2]


def test_a_function_that_never_changes_ends_the_search():
    """As a broken build may have it."""
    assert last_before_a_change(lambda _: 0) > 10**5


def test_every_method_has_neighbours():
    """Every method has its pairs of neighbours, five of them of users, under different titles."""
    planned = list(pairs(setting(methods=tuple(METHODS))))

    assert {pair.method.name for pair in planned} == set(METHODS)
    assert len({(pair.method.name, pair.title) for pair in planned}) == len(planned)
    assert sum("user" in pair.title for pair in planned) == 5


def test_the_largest_bound_is_that_of_a_build_that_tells_everything():
    """As the estimator finds it."""
    runs, error = 200, 1e-4
    tells = np.ones((runs, len(VIEWS)))
    bound = epsilon_lower_bound(0 * tells, tells, confidence=1 - error)

    assert largest_bound(runs, len(VIEWS), error=error) == pytest.approx(bound.epsilon)


def test_too_few_runs_are_no_verdict():
    """Too few runs give no verdict, and the finding names --runs."""
    pair = Neighbours(title="few", method=UniformGrid(side=2), places=(FAR,), length=0.1)
    (check,) = pair.check(setting(), 1e-5)

    assert check.verdict is Verdict.NOT_APPLICABLE
    assert "--runs" in check.finding


@pytest.mark.filterwarnings("ignore:epsilon:hushgrid.HushgridWarning")
def test_publications_bound_the_records_of_a_user():
    """A user with forty records in one cell shows three of them, at an epsilon without noise."""
    crowd = (SPOT._replace(times=40, user="eve"), FAR._replace(user="ann"))
    (release,) = publications(crowd, 1, Fraction(10**7), UniformGrid(side=2), max_per_user=3)

    assert release.measurements.leaves.values.tolist() == [3, 0, 0, 1]


@pytest.mark.parametrize(
    "cells", [cells for cells in many_at_once() if cells.route.title in ("users", "distinct users")]
)
def test_a_user_of_a_release_of_many_shows_in_their_own_cells_only(cells):
    """As many records as count in each group of cells, at an epsilon without noise."""
    losses = cells._losses(setting(10**7), True, 1.0)

    assert (losses[:, 1] == cells.kept).all()
    assert (losses[:, 0] == -cells.kept * cells.group).all()
    assert not cells._losses(setting(10**7), False, 1.0)[:, 1].any()


def test_every_way_in_is_a_black_box_once():
    """Files, engines and ledgers are tried once each, under different titles."""
    titles = [(cells.route.method, cells.route.title) for cells in many_at_once()]

    assert len(titles) == len(set(titles))
    assert {"CSV file", "Parquet folder", "DuckDB", "Spark", "arrays, ledger"} <= {title for _, title in titles}
