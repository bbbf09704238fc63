"""STAQ: its rounds, its budgets, its estimates."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.quadrants import Quadrants
from hushgrid.inference.least_squares import solve
from hushgrid.inference.measurements import rate_totals
from hushgrid.inference.splits import bayes_masses
from hushgrid.methods.staq import MOST_LEVELS, Staq, fit_steps, levels_worth, step_lengths
from hushgrid.privacy import paths
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE, PlainCounter

INFERENCES = ["bayes", "least-squares"]


def clustered(size=300, seed=0):
    """Points around three centres."""
    rng = np.random.default_rng(seed)
    return tuple(map(tuple, rng.random((3, 2))[rng.integers(0, 3, size)] + rng.normal(0, 0.02, (size, 2))))


POINTS = {
    "none": (),
    "one": ((0.3, 0.7),),
    "stacked": ((0.3, 0.7),) * 200,
    "corners": ((0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.0)),
    "clustered": clustered(),
}


class CurveCounter(PlainCounter):
    """A plain counter that is fast on quadtree cells, and remembers them."""

    def __init__(self, points):
        super().__init__(UNIT_SQUARE, points)
        object.__setattr__(self, "asked", [])
        inside = np.array([p for p in points if 0 <= p[0] <= 1 and 0 <= p[1] <= 1]).reshape(-1, 2)
        object.__setattr__(self, "places", np.clip(np.floor(inside * 2**16), 0, 2**16 - 1).astype(np.int64))

    def count(self, partition):
        """Points in every cell."""
        if not isinstance(partition, Quadrants):
            return super().count(partition)
        self.asked.append(partition)
        left, bottom, right, top = partition.boxes().T
        true_counts = np.zeros(partition.cells, np.int64)
        for column, row in self.places:
            true_counts += (left <= column) & (column < right) & (bottom <= row) & (row < top)
        return true_counts


def release(method, points, *, epsilon=Fraction(1), seed=0, **options):
    """A simulated release and its counter."""
    counter = CurveCounter(points)
    return method.release(counter, Budget(epsilon, bits=simulation_rng(seed), **options)), counter


def path_sums(synopsis):
    """The distinct sums of rates along paths."""
    totals, denominator = rate_totals(synopsis.measurements)
    return {Fraction(int(total), denominator) for total in set(totals.tolist())}


@settings(max_examples=60, deadline=None)
@given(
    st.integers(-(2**31), 2**31),
    st.sampled_from([1, 30, 1000, 10**6, 10**12]),
    st.sampled_from([Fraction(1, 1000), Fraction(1, 3), Fraction(8)]),
    st.sampled_from([Staq(), Staq(first_level=1, deepest=6, growth=3.0), Staq(c=0.3, first_weight=1e-9, deepest=5)]),
)
def test_budgets_along_every_path_sum_to_epsilon_whatever_the_noise(seed, scale, epsilon, method):
    """Exactly, with scripted noise far beyond what the law makes likely, and any size."""
    rng = np.random.default_rng(abs(seed))

    def scripted(true_counts, *, rates, rate_index, bits):
        return np.rint(scale * rng.standard_normal(len(true_counts)) ** 3 / 64).astype(np.int64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "add_noise_each", scripted)
        synopsis, _ = release(method, (), epsilon=epsilon, public_size=abs(seed), max_cells=3000)

    assert path_sums(synopsis) == {epsilon}
    assert synopsis.claim.epsilon == epsilon


@pytest.mark.parametrize("inference", INFERENCES)
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 10), Fraction(3)], ids=str)
@pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
def test_any_points_can_be_published(points, epsilon, inference):
    """Every path spends what the size has left, and estimates are finite."""
    synopsis, _ = release(Staq(inference=inference), points, epsilon=epsilon)

    assert path_sums(synopsis) == {epsilon * Fraction(99, 100)}
    assert np.isfinite(synopsis.counts).all()
    assert synopsis.variances.min() >= 0


@pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
def test_a_huge_epsilon_gives_back_the_truth(points):
    """On the cells that were released, by least squares exactly and by Bayes very nearly."""
    for inference in INFERENCES:
        synopsis, counter = release(Staq(inference=inference, deepest=8), points, epsilon=Fraction(10**7))
        true_counts = np.zeros(synopsis.partition.cells)
        for column, row in counter.places:
            left, bottom, right, top = synopsis.partition.boxes[synopsis.partition.leaves].T
            true_counts += (left <= column) & (column < right) & (bottom <= row) & (row < top)

        if inference == "least-squares":
            assert np.array_equal(synopsis.counts, true_counts)
        elif points:  # the root is given a mass of one at least
            assert np.allclose(synopsis.counts, true_counts, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_cells_of_a_round_are_disjoint_and_lie_within_those_before(seed):
    """One record is counted once a round, along one path."""
    _, counter = release(Staq(), clustered(), epsilon=Fraction(2), seed=seed)

    assert len(counter.asked) > 2
    for before, after in zip(counter.asked[:-1], counter.asked[1:], strict=True):
        first, stop = before.runs
        outer = np.searchsorted(first, after.runs[0], side="right") - 1
        assert np.all(after.runs[1] <= stop[outer])
        assert np.all((after.levels - before.levels[outer] >= 0) & (after.levels - before.levels[outer] <= 2))


def test_dense_places_are_divided_and_empty_ones_are_not():
    """Stacked points are followed down to the deepest level."""
    synopsis, _ = release(Staq(deepest=9), ((0.3, 0.7),) * 3000, epsilon=Fraction(1))
    sizes = np.diff(synopsis.partition.boxes[synopsis.partition.leaves][:, [0, 2]])[:, 0]

    assert sizes.min() == 2 ** (16 - 9)
    assert np.count_nonzero(sizes == 2 ** (16 - 3)) > 40
    assert synopsis.counts.max() > 2900


def test_bayes_is_never_negative_and_least_squares_may_be():
    """From the same measurements, which do not depend on the inference."""
    bayes, least_squares = (release(Staq(inference=name), clustered())[0] for name in INFERENCES)

    assert bayes.partition == least_squares.partition
    assert bayes.counts.min() >= 0 > least_squares.counts.min()
    assert np.array_equal(bayes.variances, least_squares.variances)
    assert np.array_equal(
        bayes.counts, bayes_masses(solve(bayes.partition, bayes.measurements)).masses[bayes.partition.leaves]
    )


def test_a_small_public_size_measures_the_first_level_with_everything():
    """With a public size of 0, one pass measures the first level, and no other follows."""
    synopsis, counter = release(Staq(), (), public_size=0)

    assert len(counter.asked) == 1
    assert synopsis.partition.cells == 64


def test_cells_are_limited_and_the_release_says_so():
    """The largest estimates are divided first."""
    synopsis, _ = release(Staq(), clustered(), epsilon=Fraction(50), max_cells=100)

    assert 64 < synopsis.partition.cells <= 100
    assert path_sums(synopsis) == {Fraction(50) * Fraction(99, 100)}
    assert synopsis.method.notes == ("cells were divided no further to fit 100 of them",)


def test_a_domain_of_any_shape_is_quartered():
    """Cells are as wide and high as the domain's sides say."""
    domain = Domain(west=-10, south=40, east=30, north=45)
    budget = Budget(Fraction(1), bits=simulation_rng(0))
    synopsis = Staq().release(PlainCounter(domain, ()), budget)

    assert synopsis.partition.bounds()[0].tolist() == [-10, 40, -5, 40.625]


@pytest.mark.parametrize("signal", [0.0, 1e-9, 1.0, 3.3, 3.5, 100.0, 1e6, 1e30])
def test_levels_are_worth_measuring_down_to_c_over_the_budget(signal):
    """By counting how often a quarter is still above half of a level."""
    levels, rest = 0, signal
    while rest >= 2 * 1.7 and levels < MOST_LEVELS:
        levels, rest = levels + 1, rest / 4

    assert levels_worth(np.array([signal]), c=1.7).tolist() == [levels]


def test_plans_go_down_in_long_steps_first():
    """Two levels at once while four or more are worth it; weights grow by level and count a long step for more."""
    rho = 2 ** (1 / 3)

    assert step_lengths(np.arange(7)).tolist() == [0, 1, 1, 1, 2, 2, 2]
    assert Staq()._weights(0) == []
    assert Staq()._weights(3) == pytest.approx([1, rho, rho**2])
    assert Staq()._weights(6) == pytest.approx([rho**2, rho**4, rho**4, rho**5])


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0, 100)), min_size=1, max_size=30), st.integers(0, 100))
def test_steps_never_need_more_room_than_there_is(wanted, room):
    """Fitted steps need no more room than there is, and are as wanted where everything fits."""
    steps, estimates = np.array([step for step, _ in wanted]), np.array([estimate for _, estimate in wanted])
    fitted = fit_steps(steps, estimates, room=room)

    assert (4**fitted - 1).sum() <= room or (4**steps - 1).sum() == 0
    assert set((fitted == steps) | (fitted == 0)) == {True}
    if (4**steps - 1).sum() <= room:
        assert np.array_equal(fitted, steps)


@pytest.mark.parametrize(
    "parameters",
    [
        {"inference": "magic"},
        {"c": 0.0},
        {"growth": -1.0},
        {"first_weight": float("inf")},
        {"first_level": -1},
        {"first_level": 9},
        {"deepest": 17},
        {"deepest": 2},
        {"deepest": True},
    ],
    ids=str,
)
def test_parameters_are_checked(parameters):
    """A parameter out of range is refused by name."""
    with pytest.raises(ArgumentError, match=next(iter(parameters))):
        Staq(**parameters)
