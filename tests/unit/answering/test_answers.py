"""Counts of rectangles and their intervals, against dense algebra."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.answering.surface import spread
from hushgrid.errors import ArgumentError
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.synopsis.answer import FLOOR_VARIANCE, Calibration
from tests.plain import UNIT_SQUARE, coverage
from tests.strategies import partitions, rects
from tests.synopses import synopsis_on


def dense_covariance(partition, measurements):
    """Covariance of the leaves, from everything that was measured, by the normal equations."""
    places = np.arange(partition.cells)
    regions = measurements.regions
    design = np.vstack([np.eye(partition.cells), (places >= regions.first[:, None]) & (places < regions.stop[:, None])])
    precision = 1 / np.concatenate([measurements.leaves.variances, measurements.region_values.variances])
    return np.linalg.inv(design.T @ (precision[:, None] * design))


FOUR_CELLS = Grid(domain=UNIT_SQUARE, rows=2, columns=2)
NESTED = NestedGrid(grid=FOUR_CELLS, sides=[1, 2, 3, 4])


@settings(deadline=None)
@given(st.data())
def test_a_count_weighs_every_leaf_by_its_covered_share(data):
    """Fast tables and dense algebra agree."""
    partition = data.draw(partitions())
    query = data.draw(rects(partition.domain))
    synopsis = synopsis_on(partition)

    assert np.allclose(synopsis.count(query), coverage(partition, query) @ synopsis.counts, atol=1e-7)


@settings(deadline=None)
@given(st.data())
def test_variances_are_those_of_the_dense_solution(data):
    """Noise with all covariances inside a first-level cell; spread from every cut leaf."""
    partition = data.draw(partitions())
    query = data.draw(rects(partition.domain))
    synopsis = synopsis_on(partition)
    weights = coverage(partition, query)
    covariance = dense_covariance(partition, synopsis.measurements)

    answer = synopsis.answer(query)
    assert np.allclose(answer.noise_std**2, np.einsum("qi,ij,qj->q", weights, covariance, weights), atol=1e-6)
    # The square root of a cancelled sum is good to half the digits only.
    expected = (weights * (1 - weights)) @ spread(synopsis.counts) + FLOOR_VARIANCE
    assert np.allclose(answer.spread_std**2, expected, atol=1e-6)


@pytest.mark.parametrize("partition", [FOUR_CELLS, NESTED], ids=["grid", "nested"])
class TestEveryPartition:
    """What holds whatever the partition."""

    def test_the_whole_domain_counts_the_total(self, partition):
        """The domain counts the total, and so does any rectangle around it."""
        synopsis = synopsis_on(partition)

        assert np.allclose(synopsis.count([[0, 0, 1, 1], [-9, -9, 9, 9], [-np.inf] * 2 + [np.inf] * 2]), synopsis.total)

    @settings(deadline=None)
    @given(cut=st.floats(0.01, 0.99))
    def test_disjoint_rectangles_add_up(self, partition, cut):
        """Two parts of a rectangle add up to it, along both axes."""
        count = synopsis_on(partition).count

        assert np.isclose(count([0.1, 0, cut + 0.1, 1]) + count([cut + 0.1, 0, 1.2, 1]), count([0.1, 0, 1.2, 1]))
        assert np.isclose(count([0, 0, 1, cut]) + count([0, cut, 1, 1]), count([0, 0, 1, 1]))

    def test_outside_the_domain_there_is_nothing(self, partition):
        """On every side of it, and on its edge."""
        outside = [[-2, 0, -1, 1], [1, 0, 2, 1], [0, -2, 1, 0], [0, 1, 1, 2]]

        answer = synopsis_on(partition).answer(outside)
        assert answer.estimate.tolist() == [0, 0, 0, 0]
        assert answer.noise_std.tolist() == [0, 0, 0, 0]

    def test_one_rectangle_gives_one_value(self, partition):
        """One rectangle gives a float or a bool in every field."""
        synopsis = synopsis_on(partition)

        assert isinstance(synopsis.count([0, 0, 1, 1]), float)
        assert {type(value) for value in vars(synopsis.answer([0, 0, 1, 1])).values()} == {float, bool}

    def test_no_rectangles_give_no_answers(self, partition):
        """An empty batch is a batch."""
        assert synopsis_on(partition).count(np.empty((0, 4))).shape == (0,)

    def test_the_interval_is_the_normal_one_clipped_at_zero(self, partition):
        """The estimate itself is not clipped."""
        synopsis = synopsis_on(partition, values=np.full(partition.cells, -30))
        answer = synopsis.answer([0, 0, 0.4, 0.4], confidence=0.8)
        reach = NormalDist().inv_cdf(0.9) * np.hypot(answer.noise_std, answer.spread_std)

        assert answer.estimate < 0
        assert (answer.low, answer.high) == (0, max(answer.estimate + reach, 0))

    def test_a_calibration_widens_the_interval_and_nothing_else(self, partition):
        """By its factor at the confidence asked for."""
        synopsis = replace(synopsis_on(partition), counts=np.full(partition.cells, 1e6))
        wider = replace(synopsis, calibration=Calibration(factors=((1.0, 1.5, 2.0, 2.5, 3.0),) * 6))
        plain, wide = (one.answer([0, 0, 0.4, 0.4], confidence=0.8) for one in (synopsis, wider))

        assert wide.estimate == plain.estimate
        assert wide.high - wide.estimate == pytest.approx(1.5 * (plain.high - plain.estimate))

    def test_an_interval_wider_than_its_estimate_is_not_usable(self, partition):
        """Whatever the confidence; certain counts are usable."""
        synopsis = synopsis_on(partition)
        few, many = (replace(synopsis, counts=np.full(partition.cells, value)) for value in (0.0, 1e6))

        assert not few.answer([0, 0, 1, 1]).usable
        assert many.answer([0, 0, 1, 1]).usable

    def test_cells_are_listed_in_full(self, partition):
        """Bounds, counts and standard errors, as an Arrow table."""
        synopsis = synopsis_on(partition)
        table = synopsis.cells()

        assert isinstance(table, pa.Table)
        assert table.column_names == ["west", "south", "east", "north", "count", "std_error"]
        assert table.num_rows == partition.cells
        assert np.array_equal(table["count"].to_numpy(), synopsis.counts)

    def test_many_rectangles_on_threads_are_answered_alike(self, partition, monkeypatch):
        """Three threads give the answers of one."""
        corners = np.random.default_rng(0).uniform(0, 0.5, (20_000, 2))
        query = np.hstack([corners, corners + 0.3])
        synopsis = synopsis_on(partition)
        monkeypatch.setenv("HUSHGRID_THREADS", "3")
        together = synopsis.answer(query)
        monkeypatch.setenv("HUSHGRID_THREADS", "1")

        assert np.array_equal(together.high, synopsis.answer(query).high)


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, float("nan")])
def test_a_confidence_outside_zero_and_one_is_refused(confidence):
    """With an example of what is meant."""
    with pytest.raises(ArgumentError, match="between 0 and 1, such as"):
        synopsis_on(FOUR_CELLS).answer([0, 0, 1, 1], confidence=confidence)


def test_the_repr_tells_what_it_is():
    """A synopsis shows its method, budget and size."""
    assert repr(synopsis_on(NESTED)) == "<Synopsis by ag: epsilon=1, 30 cells>"


@pytest.mark.parametrize("threads", ["0", "-1", "two", "1.5", ""])
def test_a_bad_thread_count_is_refused(threads, monkeypatch):
    """The message names the variable HUSHGRID_THREADS."""
    monkeypatch.setenv("HUSHGRID_THREADS", threads)

    with pytest.raises(ArgumentError, match="HUSHGRID_THREADS must be a whole number"):
        synopsis_on(FOUR_CELLS).count([0, 0, 1, 1])
