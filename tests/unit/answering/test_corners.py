"""Rectangles on quadtrees by their corners, against sums node by node and integrals leaf by leaf."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.answering import corners
from hushgrid.answering import trees as tree_surfaces
from hushgrid.answering.corners import is_even_quadtree
from hushgrid.answering.sloped_trees import SlopedSurface
from hushgrid.answering.surface import FLAT
from hushgrid.answering.trees import TreeSurface
from hushgrid.geometry.quadrants import all_cells, quadrant_tree
from hushgrid.geometry.tree import Lattice, divide, grow, seedling
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.measurements import Measurements, NoisyValues
from tests.plain import UNIT_SQUARE
from tests.quadtrees import measured_quadtrees
from tests.strategies import rects, trees
from tests.unit.answering.test_sloped_surface import integral


@st.composite
def masses(draw):
    """A quadtree, counts of its leaves, some of them zero, and their slopes."""
    tree, _ = draw(measured_quadtrees())
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    counts = rng.gamma(0.3, 50, tree.cells) * (rng.random(tree.cells) < 0.8)
    return tree, counts, np.clip(rng.normal(0, 0.8, (tree.cells, 2)), -1, 1)


@pytest.fixture(scope="module", autouse=True)
def by_corners():
    """However few the rectangles are, and however small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_surfaces, "FEW", 0)
        patch.setattr(tree_surfaces, "CROSSED", -1.0)
        yield


def surface(kind, tree, counts, slopes):
    return kind(Evidence(tree, Measurements.of_leaves(NoisyValues.nothing(tree.cells))), counts, slopes)


def node_by_node(kind, tree, counts, slopes):
    """The surface that visits every node a rectangle cuts."""
    slow = surface(kind, tree, counts, slopes)
    slow.__dict__["_corners"] = None
    return slow


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_corners_agree_with_integrals_of_the_density(data):
    """Rectangles of any shape, on sloped leaves and on flat ones."""
    tree, counts, slopes = data.draw(masses())
    queries = data.draw(rects(tree.domain))
    assert is_even_quadtree(tree)

    for kind, leaning in ((SlopedSurface, slopes), (TreeSurface, FLAT)):
        lean = leaning if len(leaning) else np.zeros((tree.cells, 2))
        expected = [integral(tree, counts, lean, query) for query in queries]
        found = surface(kind, tree, counts, leaning).counts(queries)
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-7)
        assert np.allclose(found, node_by_node(kind, tree, counts, leaning).counts(queries), rtol=1e-9, atol=1e-7)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_variances_by_corners_are_those_node_by_node(data):
    """Any nodes measured at any rates, some not at all; rectangles on the lines of the tree and off them."""
    tree, measurements = data.draw(measured_quadtrees())
    counts = np.random.default_rng(data.draw(st.integers(0, 2**32))).gamma(0.5, 20, tree.cells)
    queries = data.draw(rects(tree.domain))
    west, south, east, north = tree.domain.bounds
    step = np.array([east - west, north - south] * 2) / 8
    snapped = np.round(queries / step) * step
    queries = np.concatenate([queries, snapped[(snapped[:, :2] < snapped[:, 2:]).all(axis=1)]])
    made, plain = (TreeSurface(Evidence(tree, measurements), counts) for _ in range(2))
    plain.__dict__["_lines"] = None

    for found, expected in zip(made.variances(queries), plain.variances(queries), strict=True):
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * (1 + np.nanmax(expected, initial=0)))


@settings(deadline=None, max_examples=30)
@given(masses())
def test_the_domain_holds_the_total_to_the_last_bit(given):
    """Nothing cancels where all corners lie on the edge."""
    tree, counts, slopes = given
    made = surface(SlopedSurface, tree, counts, slopes)

    assert made.counts(np.array([tree.domain.bounds]))[0] == made._node_counts[0]


@settings(deadline=None, max_examples=20)
@given(masses(), st.integers(0, 2**32))
def test_a_rectangle_has_one_count_alone_and_among_others(given, seed):
    """Sorting a batch by place changes no bit of any count."""
    tree, counts, slopes = given
    west, south, east, north = tree.domain.bounds
    places = np.sort(np.random.default_rng(seed).uniform((west, south), (east, north), (300, 2, 2)), axis=1)
    queries = np.concatenate([places[:, 0], places[:, 1]], axis=1)
    made = surface(SlopedSurface, tree, counts, slopes)
    alone = made.counts(queries)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corners, "WORTH_SORTING", 2)
        among = made.counts(queries)

    assert (alone == among).all()
    assert (alone >= 0).all()


def test_a_tree_too_deep_for_its_size_takes_little_memory():
    """A file may hold a tree of a few nodes, one in the other, whose marginals would fill the memory."""
    side = 2**26
    tree = seedling(Lattice(domain=UNIT_SQUARE, columns=side, rows=side))
    for _ in range(25):
        last = np.array([tree.levels[-2]])
        tree = grow(tree, last, np.array([[2, 2]]), divide(tree.boxes[last], 2, 2))
    counts = np.arange(1.0, tree.cells + 1)
    made = surface(SlopedSurface, tree, counts, np.zeros((tree.cells, 2)))

    assert is_even_quadtree(tree)
    assert made._corners is None
    assert np.isclose(
        made.counts(np.array([[0.5, 0, 1, 1]]))[0], integral(tree, counts, np.zeros((tree.cells, 2)), (0.5, 0, 1, 1))
    )


@settings(deadline=None, max_examples=30)
@given(trees())
def test_only_quadtrees_are_counted_by_corners(tree):
    """A tree with any other split is counted node by node, and so is one whose halves differ."""
    sizes = tree.boxes[:, 2:] - tree.boxes[:, :2]
    even = all(
        (tree.splits[node] == 2).all() and (2 * sizes[child] == sizes[node]).all()
        for child, node in enumerate(tree.parents)
        if node >= 0
    )

    assert is_even_quadtree(tree) == even


def test_many_small_rectangles_need_no_corners(monkeypatch):
    """Walking the tree is as fast as long as their edges cross few leaves; it gives the same answers."""
    monkeypatch.setattr(tree_surfaces, "FEW", 2000)
    monkeypatch.setattr(tree_surfaces, "CROSSED", 3.0)
    tree = quadrant_tree(all_cells(UNIT_SQUARE, 5))
    low = np.random.default_rng(0).random((2500, 2)) / 2
    counts, slopes = np.arange(1.0, tree.cells + 1), np.zeros((tree.cells, 2))
    small, large = (surface(SlopedSurface, tree, counts, slopes) for _ in range(2))

    found = [made.counts(np.hstack([low, low + side])) for made, side in ((small, 0.01), (large, 0.4))]

    assert "_corners" not in small.__dict__
    assert "_corners" in large.__dict__
    slow = node_by_node(SlopedSurface, tree, counts, slopes)
    assert np.allclose(found[0], slow.counts(np.hstack([low, low + 0.01])))
    assert np.allclose(found[1], slow.counts(np.hstack([low, low + 0.4])))
