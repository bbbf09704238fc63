"""Tests of everything drawn at random accept the true law, and reject laws a fifth off."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hushgrid.audit import primitives
from hushgrid.audit.audit import USUAL_RUNS
from hushgrid.audit.check import Setting
from hushgrid.audit.examples import LARGE
from hushgrid.audit.laws import heads_law, permute_and_flip_law, positive_law
from hushgrid.counting.memory import ArrayPoints
from hushgrid.counting.point_counter import PointCounter
from hushgrid.methods import METHODS
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.laplace import add_noise
from hushgrid.publish import publish
from tests.plain import UNIT_SQUARE

ACCEPT, REJECT = 1e-3, 1e-6
SETTING = Setting(methods=(), epsilon=Fraction(1), runs=400)
TESTS = {
    "coin": (primitives.coin_test, "heads_law", heads_law),
    "selection": (primitives.selection_test, "permute_and_flip_law", permute_and_flip_law),
    "split": (primitives.split_test, "positive_law", positive_law),
}


def seeded():
    """The same audit with noise of its own."""
    return replace(SETTING, rng=simulation_rng(5))


@pytest.mark.parametrize(("test", "name", "law"), TESTS.values(), ids=TESTS)
@pytest.mark.parametrize("factor", [Fraction(4, 5), Fraction(1), Fraction(6, 5)])
def test_a_law_is_accepted_at_its_own_rate_only(monkeypatch, test, name, law, factor):
    """A fifth more or less is another law."""
    monkeypatch.setattr(primitives, name, lambda values, rate: law(values, rate * factor))
    p_value, _ = test(seeded())

    assert p_value > ACCEPT if factor == 1 else p_value < REJECT


@pytest.mark.parametrize("name", METHODS)
def test_every_measurement_is_known_with_its_truth(name):
    """Without noise to speak of, each is its true value; and there are many."""
    arguments = {"domain": UNIT_SQUARE, "calibrate": False, "rng": simulation_rng(1)}
    release = publish(primitives.POINTS, epsilon=10**4, method=LARGE[name], **arguments)
    counter = PointCounter(UNIT_SQUARE, ArrayPoints(primitives.POINTS))

    for measured, true_values in primitives.with_truth(release, counter):
        taken = measured.rate_index >= 0
        assert np.array_equal(measured.values[taken], true_values[taken])


@pytest.mark.parametrize("factor", [Fraction(19, 20), Fraction(21, 20)])
def test_the_noise_of_counts_is_told_from_a_rate_a_twentieth_off(monkeypatch, factor):
    """At every rate, with as many runs as an audit has by default."""
    off = lambda counts, *, rate, bits: add_noise(counts, rate=rate * factor, bits=bits)  # noqa: E731
    monkeypatch.setattr("hushgrid.privacy.budget.add_noise", off)

    for rate in primitives.SAMPLER_RATES:
        assert primitives.sampler_test(rate, replace(seeded(), runs=USUAL_RUNS))[0] < REJECT
