"""DAWA: costs of sensitivity one, the cheapest buckets, and budgets that suit rectangles."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.inference.least_squares import solve
from hushgrid.methods.dawa import Coverage, Dawa, deviations, measure_paths, merged_squares, own_parts, pruned
from hushgrid.methods.pyramids import base_cells, base_grid, pyramid
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter


def least_sum(counts):
    """The cost by trying every centre."""
    return min(sum(abs(int(x) - m) for x in counts) for m in range(min(counts), max(counts) + 1))


def from_the_mean(counts):
    """The paper's cost."""
    return float(np.abs(np.array(counts) - np.mean(counts)).sum())


def changes(cost):
    """How much one more record changes a cost, over all small squares of four cells and every cell."""
    return [
        abs(cost([x + (place == cell) for place, x in enumerate(counts)]) - cost(counts))
        for counts in product(range(5), repeat=4)
        for cell in range(4)
    ]


def test_a_record_changes_a_cost_by_at_most_one():
    """On every square of small counts; the paper's cost changes by more, which is the control."""
    ours = changes(lambda counts: int(deviations(np.array(counts), 4)[0]))

    assert max(ours) == 1
    assert 1.4 < max(changes(from_the_mean)) <= 2 * (1 - 1 / 4)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 40), min_size=64, max_size=64), st.integers(0, 63), st.sampled_from([4, 16, 64]))
def test_costs_are_least_sums_of_sensitivity_one(counts, place, cells):
    """They equal the best of all centres, and a record changes one of a level, by at most one."""
    more = list(counts)
    more[place] += 1
    before, after = deviations(np.array(counts), cells), deviations(np.array(more), cells)

    assert before.tolist() == [least_sum(counts[start : start + cells]) for start in range(0, 64, cells)]
    assert np.abs(after - before).sum() <= 1


def partitions(height):
    """Every way to divide a square of a height into squares, as (height, place) pairs in reading order."""
    if height == 0:
        return [[(0, 0)]]
    ways = [[(height, 0)]]
    for quarters in product(partitions(height - 1), repeat=4):
        shifted = [
            (above, place + corner * 4 ** (height - 1 - above))
            for corner, squares in enumerate(quarters)
            for above, place in squares
        ]
        ways.append(shifted)
    return ways


def buckets(merged):
    """The merged squares in no other one, as (height, place) pairs."""
    height, found, live = len(merged) - 1, [], np.ones(1, bool)
    for level, squares in enumerate(merged):
        found += [(height - level, int(place)) for place in np.flatnonzero(live & squares)]
        live = np.repeat(live & ~squares, 4)
    return found


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32))
def test_no_partition_is_cheaper(seed):
    """Of all seventeen that there are of four by four cells."""
    rng = np.random.default_rng(seed)
    costs, price = [rng.integers(-20, 30, 4), rng.integers(-20, 60, 1)], 7.5

    def cost(squares):
        return sum(price + (max(costs[above - 1][place], 0) if above else 0) for above, place in squares)

    chosen = buckets(merged_squares(costs, 2, price=price))

    assert len(partitions(2)) == 17
    assert cost(chosen) == min(map(cost, partitions(2)))


def test_squares_without_a_cost_are_not_merged():
    """However even the counts are."""
    merged = merged_squares([np.zeros(16, np.int64)], 3, price=1.0)

    assert [level.all() for level in merged] == [False, False, True, True]


def test_buckets_hold_the_points_that_lie_in_them():
    """True counts of every node, and of the buckets against a plain count; the leaves are the buckets."""
    points = tuple(map(tuple, np.random.default_rng(3).random((900, 2)) ** 2))
    counter = PlainCounter(UNIT_SQUARE, points)
    whole = pyramid(UNIT_SQUARE, [1, 2, 4, 8])
    true_cells = counter.count(base_grid(whole))[base_cells(whole)]
    merged = merged_squares([deviations(true_cells, 4), deviations(true_cells, 16)], 3, price=12.0)
    tree, true_counts = pruned(whole, merged, true_cells)

    assert 4 < tree.cells < 64
    assert np.array_equal(true_counts[tree.leaves], counter.count(tree))
    assert true_counts[0] == 900
    sides = tree.boxes[tree.leaves, 2] - tree.boxes[tree.leaves, 0]
    assert sorted(2**above for above, _ in buckets(merged)) == sorted(sides)


@pytest.mark.parametrize(("height", "levels"), [(3, 2), (2, 4)])
def test_noise_of_costs_has_the_rate_of_its_share(height, levels, monkeypatch):
    """A level of the lowest ones each, the share divided by how many there are."""
    perturbed = []
    original = Budget.perturb

    def perturb(self, true_values, rate):
        perturbed.append((len(true_values), rate))
        return original(self, true_values, rate)

    monkeypatch.setattr(Budget, "perturb", perturb)
    budget = Budget(Fraction(2), bits=simulation_rng(0), public_size=10)
    release = Dawa(height=height, levels=levels, partition_share="1/4").release(PlainCounter(UNIT_SQUARE, ()), budget)
    used = min(height, levels)

    assert perturbed == [(4 ** (height - above), Fraction(1, 2) / used) for above in range(1, used + 1)]
    assert [(spend.purpose, spend.epsilon) for spend in release.claim.spends] == [
        ("partition", Fraction(1, 2)),
        ("counts", Fraction(3, 2)),
    ]


def test_even_land_is_merged_and_a_town_is_not():
    """At a budget that shows both."""
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.random((400, 2)), 0.5 + rng.random((40_000, 2)) ** 3 / 4])
    budget = Budget(Fraction(1), bits=simulation_rng(0), public_size=len(points))
    release = Dawa(height=5).release(PlainCounter(UNIT_SQUARE, tuple(map(tuple, points))), budget)
    bounds = release.partition.bounds()
    town = (bounds[:, :2] >= 0.5).all(axis=1) & (bounds[:, 2:] <= 0.75).all(axis=1)

    assert town.sum() > 0.75 * 64  # of the cells there
    assert (~town).sum() < 0.5 * (1024 - 64)


def test_coverage_is_that_of_random_rectangles():
    """Against rectangles on a fine grid, for squares beside each other and one by itself."""
    tree = pyramid(UNIT_SQUARE, [1, 2, 4])
    nodes = np.array([[5, 6, 7, 8], [17, 18, 19, 20]])
    edges = (np.arange(80) + 0.5) / 80
    low, high = np.sort(np.stack(np.meshgrid(edges, edges), axis=-1).reshape(-1, 2), axis=1).T
    bounds = tree.node_bounds(nodes.ravel()).reshape(2, 4, 4)

    def shares(first, last):
        inside = np.minimum(high, last[..., None]) - np.maximum(low, first[..., None])
        return np.maximum(inside, 0) / (last - first)[..., None]

    across, along = (shares(bounds[..., axis], bounds[..., axis + 2]) for axis in (0, 1))
    products = [np.einsum("nik,njk->nij", part, part) / len(low) for part in (across, along)]

    assert np.allclose(Coverage(tree).products(nodes), products[0] * products[1], atol=2e-3)


def mean_variance(tree, parts, monkeypatch):
    """Mean variance of rectangles, when every node spends these parts on itself."""
    monkeypatch.setattr("hushgrid.methods.dawa.own_parts", lambda _: parts)
    budget = Budget(Fraction(1), bits=simulation_rng(0), public_size=1)
    measured = measure_paths(budget, tree, np.zeros(tree.nodes, np.int64), Fraction(1))
    estimates = solve(tree, measured)
    rng = np.random.default_rng(0)
    total = 0.0
    for _ in range(60):
        (west, east), (south, north) = np.sort(rng.random((2, 2)), axis=1)
        bounds = tree.node_bounds(tree.leaves)
        wide = np.clip(np.minimum(bounds[:, 2], east) - np.maximum(bounds[:, 0], west), 0, None)
        high = np.clip(np.minimum(bounds[:, 3], north) - np.maximum(bounds[:, 1], south), 0, None)
        total += tree_variance(tree, estimates.below_variances, wide * high * tree.lattice.rows**2)
    return total / 60


def tree_variance(tree, below, leaf_shares):
    """Variance of a weighted sum of leaves after least squares, from the leaves up."""
    shares, total = np.zeros(tree.nodes), 0.0
    shares[tree.leaves] = leaf_shares
    for node in reversed(range(tree.nodes)):
        if tree.child_counts[node]:
            children = slice(tree.first_children[node], tree.first_children[node] + 4)
            shares[node] = np.average(shares[children], weights=below[children])
            total += np.sum(below[children] * (shares[children] - shares[node]) ** 2)
    return total + below[0] * shares[0] ** 2


def test_greedy_parts_beat_plain_ones(monkeypatch):
    """Rectangles have a lower variance than with leaves alone, or with the same budget for every level."""
    tree = pyramid(Domain(west=0, south=0, east=1, north=1), [1, 2, 4, 8, 16, 32])
    depth = np.searchsorted(tree.levels, np.arange(tree.nodes), side="right") - 1
    greedy = mean_variance(tree, own_parts(tree), monkeypatch)

    assert greedy < 0.9 * mean_variance(tree, np.zeros(tree.nodes), monkeypatch)
    assert greedy < 0.9 * mean_variance(tree, 1 / (6 - depth), monkeypatch)


def test_a_limit_on_cells_is_kept_and_told():
    """A pyramid sized by the noisy number of points has no more cells than are allowed."""
    points = tuple(map(tuple, np.random.default_rng(0).random((5000, 2))))
    budget = Budget(Fraction(10), bits=simulation_rng(0), max_cells=300)
    release = Dawa().release(PlainCounter(UNIT_SQUARE, points), budget)

    assert release.partition.lattice.columns == 16
    assert release.method.notes == ("the height of 7 was clamped to 4, to fit 300 cells",)


@pytest.mark.parametrize(
    "parameters",
    [{"height": 0}, {"height": 13}, {"levels": 0}, {"partition_share": 1}, {"partition_share": 0}, {"c": 0}],
)
def test_parameters_are_checked(parameters):
    """Before any data is seen."""
    with pytest.raises(ArgumentError):
        Dawa(**parameters)
