"""The audit of broken builds: each planted defect is flagged, where it should be, and a sound build is not."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.audit.audit import audit
from hushgrid.counting.user_level import UserLevel
from hushgrid.geometry.grid import Grid
from hushgrid.geometry.guidelines import leaf_sides
from hushgrid.geometry.nested import NestedGrid
from hushgrid.inference.measurements import Measurements, Regions
from hushgrid.methods import METHODS
from hushgrid.methods.adaptive_grid import AdaptiveGrid
from hushgrid.methods.method import record
from hushgrid.privacy import budget as budget_module
from hushgrid.privacy import paths as paths_module
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.laplace import add_noise
from hushgrid.privacy.mixture import add_noise_each
from hushgrid.synopsis import file as file_module
from hushgrid.synopsis.synopsis import Synopsis

pytestmark = pytest.mark.slow

HALF = Fraction(1, 2)
COUNT_NOISE = {f"Noise of counts at rate {rate}" for rate in ("1/10", "1", "3")}
EMPTY_SPOT = "A record in an empty spot"


def flagged(method, *, runs, seed=3):
    """Titles of what an audit of one method flags."""
    report = audit(methods=[method], runs=runs, rng=simulation_rng(seed))
    assert report.ok == (not report.flagged)
    return {check.title for check in report.flagged}


def test_a_sound_build_is_not_flagged():
    """Any method."""
    report = audit(runs=100, rng=simulation_rng(1))

    assert report.flagged == ()
    assert {check.method for check in report.checks} == {None, *METHODS}


def test_noise_a_fifth_too_small_is_flagged(monkeypatch):
    """By the law of the noise, and by neighbours alone."""
    quiet = lambda counts, *, rate, bits: add_noise(counts, rate=rate * Fraction(5, 4), bits=bits)  # noqa: E731
    monkeypatch.setattr(budget_module, "add_noise", quiet)

    found = flagged("ug", runs=500)
    assert found >= COUNT_NOISE | {"Noise of the number of records", "Noise of everything measured"}
    assert EMPTY_SPOT in found


def test_noise_of_paths_a_fifth_too_small_is_flagged(monkeypatch):
    """The sampler of many rates has a call of its own."""

    def quiet(counts, *, rates, rate_index, bits):
        rates = [rate * Fraction(5, 4) for rate in rates]
        return add_noise_each(counts, rates=rates, rate_index=rate_index, bits=bits)

    monkeypatch.setattr(paths_module, "add_noise_each", quiet)

    assert "Noise of everything measured" in flagged("staq", runs=200)


@pytest.mark.parametrize("method", ["ug", "ag", "quadtree"])
def test_a_grid_sized_by_the_true_number_is_flagged(monkeypatch, method):
    """One record more, and the grid is another."""
    honest = Budget.noisy_size

    def knowing(self, counter):
        honest(self, counter)
        return counter.total()

    monkeypatch.setattr(Budget, "noisy_size", knowing)

    assert flagged(method, runs=200) == {"The number of records on a rounding edge of the grid"}


def test_a_second_level_sized_by_true_counts_is_flagged(monkeypatch):
    """One record more, and a cell is divided."""

    def knowing(self, counter, budget):
        side = self.first_side or 10
        grid = Grid(domain=counter.domain, rows=side, columns=side)
        true_counts = counter.count(grid)
        cells = budget.measure(true_counts, HALF)
        nested = NestedGrid(grid=grid, sides=leaf_sides(true_counts, HALF * budget.epsilon))
        leaves = budget.measure(counter.count(nested), HALF)
        measurements = Measurements(leaves=leaves, regions=Regions.between(nested.offsets), region_values=cells)
        return Synopsis.infer(nested, measurements, inference="two-level", claim=budget.claim(), method=record(self))

    monkeypatch.setattr(AdaptiveGrid, "release", knowing)
    # The size is paid for by no one here, and its edge is none.
    monkeypatch.setattr("hushgrid.audit.neighbours.SIZED", {})

    assert "A first-level count on the edge of a finer second level" in flagged("ag", runs=200)


def test_noise_for_cells_with_records_only_is_flagged(monkeypatch):
    """As after a group-by: a cell shows a count if and only if someone is there."""

    def sparse(counts, *, rate, bits):
        return np.where(counts > 0, add_noise(counts, rate=rate, bits=bits), 0)

    monkeypatch.setattr(budget_module, "add_noise", sparse)

    assert flagged("ug", runs=200) >= COUNT_NOISE | {EMPTY_SPOT, "Noise cut off at zero"}


def test_a_file_without_some_of_its_cells_is_flagged(monkeypatch):
    """Rows of cells that seem empty left out."""
    honest = file_module._rows

    def dropping(synopsis, first, stop):
        rows = honest(synopsis, first, stop)
        return rows.filter(np.rint(rows["count"].to_numpy()) != 0)

    monkeypatch.setattr(file_module, "_rows", dropping)

    assert flagged("ug", runs=50) >= {"Empty cells left out", "Order of rows", "A claim that does not add up"}


def test_one_draw_for_all_cells_is_flagged(monkeypatch):
    """The difference of two cells is then exact."""

    def reusing(counts, *, rate, bits):
        return counts + add_noise(np.zeros(1, np.int64), rate=rate, bits=bits)

    monkeypatch.setattr(budget_module, "add_noise", reusing)

    assert flagged("ug", runs=100) >= COUNT_NOISE | {EMPTY_SPOT, "A record on a stack of others"}


def rounded_laplace(counts, *, rate, bits):
    """Continuous noise from floats, rounded."""
    uniform = (np.asarray(bits.words(counts.size), np.float64) + 0.5) / 2**32
    return np.rint(counts - np.sign(uniform - 0.5) * np.log(1 - 2 * np.abs(uniform - 0.5)) / float(rate)).astype(int)


def short_floats(counts, *, rate, bits):
    """The right law, as far as single precision goes."""
    uniform = ((np.asarray(bits.words(2 * counts.size), np.float32) + 1) / np.float32(2**32)).reshape(2, -1)
    first, second = np.floor(-np.log(uniform) / np.float32(rate)).astype(np.int64)
    return counts + first - second


def test_rounded_float_noise_is_flagged_at_a_small_scale(monkeypatch):
    """Where few integers carry all of the law, rounding shows."""
    monkeypatch.setattr(budget_module, "add_noise", rounded_laplace)

    assert flagged("ug", runs=50) >= {"Noise of counts at rate 1", "Noise of counts at rate 3"}


def test_noise_of_short_floats_is_flagged_by_its_low_digits(monkeypatch):
    """At a scale so large that floats of single precision have gaps."""
    monkeypatch.setattr(budget_module, "add_noise", short_floats)

    assert "Low digits of much noise" in flagged("ug", runs=50)


def test_users_whose_records_are_not_bounded_are_flagged(monkeypatch):
    """Noise for three records of a user, and all sixty of them counted."""
    honest = UserLevel.rule

    def unbounded(self, domain, **arguments):
        rule = honest(self, domain, **arguments)
        object.__setattr__(rule, "most", 1000)
        return rule

    monkeypatch.setattr(UserLevel, "rule", unbounded)

    users = {f"A user with far more records than count, {where}" for where in ("in one spot", "all over the map")}
    assert flagged("uniform", runs=300) == users
