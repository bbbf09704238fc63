"""Features of cells against a plain walk over coordinates; slopes where they are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.inference.least_squares import solve
from hushgrid.inference.slopes import Surroundings, refined_means, slopes
from tests.quadtrees import complete_quadtree, measured_quadtrees, node_sums, noisy, random_quadtree


class PlainTree:
    """A quadtree by level, row and column, whose leaves are spread evenly."""

    def __init__(self, tree, masses):
        self.masses, self.places = {}, []
        level = np.repeat(np.arange(len(tree.levels) - 1), np.diff(tree.levels))
        for node in range(tree.nodes):
            size = 2 ** (16 - level[node])
            place = (int(level[node]), int(tree.boxes[node, 1] // size), int(tree.boxes[node, 0] // size))
            self.places.append(place)
            self.masses[place] = masses[node]

    def mass(self, level, row, column):
        """Of a cell; beyond the domain, of the one at its border."""
        row, column = (min(max(place, 0), 2**level - 1) for place in (row, column))
        share = 1.0
        while (level, row, column) not in self.masses:
            level, row, column, share = level - 1, row // 2, column // 2, share / 4
        return share * self.masses[level, row, column]

    def half(self, level, row, half_column):
        """Of the west or east half of a cell, whose columns are counted in halves."""
        half_column = min(max(half_column, 0), 2 ** (level + 1) - 1)
        row = min(max(row, 0), 2**level - 1)
        return sum(self.mass(level + 1, 2 * row + up, half_column) for up in range(2))

    def quarter(self, place, row, column):
        """Of a cell of the next level near a place: beyond the domain, a quarter of the place's own mass."""
        side = 2 ** (place[0] + 1)
        outside = not (0 <= row < side and 0 <= column < side)
        return self.mass(*place) / 4 if outside else self.mass(place[0] + 1, row, column)


def ratio(first, second, rest):
    """The difference relative to the sum, zero of nothing."""
    total = first + second + rest
    return (first - second) / total if total > 0 else 0.0


def plain_west_features(plain, place):
    """Four features of a cell's lean to the west."""
    level, row, column = place
    own = plain.mass(*place)
    rows = [[plain.mass(level, row + up, column + right) for right in (-1, 0, 1)] for up in (-1, 0, 1)]
    beside = np.add(rows[0], rows[2])

    def quarters(*places):
        return sum(plain.quarter(place, 2 * row + up, 2 * column + right) for up, right in places)

    return [
        ratio(rows[1][0], rows[1][2], 2 * own),
        ratio(beside[0], beside[2], 2 * beside[1]),
        ratio(quarters((0, -1), (1, -1)), quarters((0, 2), (1, 2)), own),
        ratio(quarters((-1, 0), (2, 0)), quarters((-1, 1), (2, 1)), own / 2),
    ]


def plain_half_features(plain, place, side):
    """Four features of the lean of a half to the south."""
    level, row, column = place
    own = plain.half(level, row, 2 * column + side)
    halves = [[plain.half(level, row + up, 2 * column + side + right) for right in (-1, 0, 1)] for up in (-1, 0, 1)]
    beside = [low + high for low, _, high in halves]

    def quarter(up, right):
        return plain.quarter(place, 2 * row + up, 2 * column + right)

    outer = -1 if side == 0 else 2
    return [
        ratio(halves[0][1], halves[2][1], 2 * own),
        ratio(beside[0], beside[2], 2 * beside[1]),
        ratio(quarter(-1, side), quarter(2, side), own),
        ratio(quarter(0, 1 - side) + quarter(0, outer), quarter(1, 1 - side) + quarter(1, outer), own),
    ]


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([0.3, 0.6, 0.9]), st.integers(0, 4))
def test_features_are_those_of_a_plain_walk(seed, chance, depth):
    """Of cells to the west and of halves to the south, with larger neighbours, borders and empty cells."""
    rng = np.random.default_rng(seed)
    tree = random_quadtree(rng, depth=depth, chance=chance)
    masses = node_sums(tree, rng.gamma(0.5, 10, tree.cells) * (rng.random(tree.cells) < 0.7))
    plain = PlainTree(tree, masses)

    around = Surroundings(tree, masses)
    nodes, halves = around.of_nodes(np.arange(tree.nodes), 1), around.of_halves()
    assert np.allclose(nodes[:, 0], [plain_west_features(plain, place) for place in plain.places])
    inner = np.flatnonzero(tree.child_counts)
    expected = [[plain_half_features(plain, plain.places[node], side) for side in range(2)] for node in inner]
    assert np.allclose(halves, np.reshape(expected, (len(inner), 2, 4)))


def transposed(tree):
    """For every node of a complete quadtree, the node with rows and columns exchanged."""
    swapped = [tuple(box) for box in tree.boxes[:, [1, 0, 3, 2]].tolist()]
    number = {tuple(box): node for node, box in enumerate(tree.boxes.tolist())}
    return np.array([number[box] for box in swapped])


def test_both_axes_are_treated_alike():
    """Exchanging rows and columns exchanges the features of cells and the slopes."""
    tree = complete_quadtree(4)
    masses = node_sums(tree, np.random.default_rng(1).gamma(0.5, 10, tree.cells))
    other = transposed(tree)

    features, of_other = (Surroundings(tree, one).of_nodes(np.arange(tree.nodes), 2) for one in (masses, masses[other]))
    assert np.allclose(of_other, features[other][:, ::-1])
    by_node, by_other = np.zeros((2, tree.nodes, 2))
    by_node[tree.leaves] = slopes(tree, masses)
    by_other[tree.leaves] = slopes(tree, masses[other])
    assert np.allclose(by_other, by_node[other][:, ::-1])


def test_flat_masses_have_no_slope():
    """Leaves of any size with one density have no slope."""
    tree = random_quadtree(np.random.default_rng(2), depth=5, chance=0.7)
    left, bottom, right, top = tree.boxes[tree.leaves].T / 2**16
    assert np.allclose(slopes(tree, node_sums(tree, 1000 * (right - left) * (top - bottom))), 0)


def test_empty_masses_have_no_slope():
    """Leaves without mass have no slope."""
    tree = complete_quadtree(3)
    assert np.array_equal(slopes(tree, np.zeros(tree.nodes)), np.zeros((tree.cells, 2)))


@pytest.mark.parametrize("steepness", [0.3, -0.9])
def test_slopes_of_a_ramp_are_its_own(steepness):
    """Inside the domain, where the neighbours are known on both sides."""
    tree = complete_quadtree(5)
    left, _, right, _ = tree.boxes[tree.leaves].T / 2**16
    middle = (left + right) / 2
    density = 1 + steepness * (2 * middle - 1)
    found = slopes(tree, node_sums(tree, 1e5 * density))

    inside = (left > 0) & (right < 1)
    assert np.allclose(found[inside, 0], (steepness * (right - left) / density)[inside], rtol=0.25)
    assert np.allclose(found[:, 1], 0, atol=1e-3)


@settings(deadline=None, max_examples=30)
@given(measured_quadtrees())
def test_slopes_and_means_stay_within_bounds(given):
    """Whatever the masses and the measurements, down to none at all."""
    tree, measurements = given
    rng = np.random.default_rng(tree.nodes)
    masses = node_sums(tree, rng.gamma(0.01, 10, tree.cells))

    assert np.all(np.abs(slopes(tree, masses)) <= 1)
    means = refined_means(solve(tree, measurements), masses)
    assert means.shape == (tree.nodes, 3)
    assert np.all((means >= 0.01) & (means <= 0.99))


def test_means_foretell_shares():
    """Of points on a steep ramp, from masses that are noisy: nearer the true shares than one half is."""
    rng = np.random.default_rng(4)
    tree = complete_quadtree(5)
    left, bottom, _, _ = tree.boxes[tree.leaves].T / 2**16
    density = np.exp(-6 * np.abs(left - 0.4) - 4 * bottom)
    measurements = noisy(tree, rng.poisson(2e5 * density / density.sum()), "0.5", rng, from_level=3)
    truth = node_sums(tree, density)

    inner = np.arange(*tree.levels[3:5])
    quarters = truth[tree.first_children[inner, None] + np.arange(4)]
    southwest, southeast, northwest, northeast = quarters.T
    shares = np.stack(
        [
            (southwest + northwest) / quarters.sum(axis=1),
            southwest / (southwest + northwest),
            southeast / (southeast + northeast),
        ],
        axis=1,
    )
    means = refined_means(solve(tree, measurements), 2e5 * truth / truth[0])[inner]
    assert np.all(np.mean((means - shares) ** 2, axis=0) < 0.2 * np.mean((0.5 - shares) ** 2, axis=0))
