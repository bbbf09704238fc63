"""Tests of everything drawn at random accept the true law, and reject laws a fifth off."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hushgrid.audit import laws, primitives
from hushgrid.audit.audit import USUAL_RUNS
from hushgrid.audit.check import Setting
from hushgrid.audit.examples import LARGE
from hushgrid.methods import METHODS
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.laplace import add_noise
from hushgrid.release.publish import publish
from tests.plain import UNIT_SQUARE

ACCEPT, REJECT = 1e-3, 1e-6
SETTING = Setting(methods=(), epsilon=Fraction(1), runs=400)
TESTS = {
    "coin": (primitives.coin_test, "heads"),
    "selection": (primitives.selection_test, "choice"),
    "cut": (primitives.cut_test, "choice"),
    "division": (primitives.division_test, "positive"),
}
OTHERS = (
    primitives.mixed_rates_test,
    primitives.low_digits_test,
    primitives.repeated_draws_test,
    primitives.pairs_test,
    primitives.size_test,
    primitives.total_test,
    primitives.kept_test,
)


def seeded(runs=400):
    """The audit with noise from a seed of its own."""
    return replace(SETTING, runs=runs, rng=simulation_rng(5))


@pytest.mark.slow
@pytest.mark.parametrize(("test", "name"), TESTS.values(), ids=TESTS)
@pytest.mark.parametrize("factor", [0.8, 1, 1.25])
def test_a_law_is_accepted_at_its_own_rate_only(monkeypatch, test, name, factor):
    """A fifth more or less is another law."""
    law = getattr(laws, name)
    monkeypatch.setattr(laws, name, lambda values, rate: law(values, rate * factor))
    p_value, _ = test(seeded(runs=USUAL_RUNS))

    assert p_value > ACCEPT if factor == 1 else p_value < REJECT


@pytest.mark.parametrize("test", OTHERS)
def test_a_sound_build_follows_the_law(test):
    """Of everything else that is drawn."""
    assert test(seeded())[0] > ACCEPT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "test"),
    [("size_rate", primitives.size_test), ("total_rate", primitives.total_test), ("total_rate", primitives.kept_test)],
    ids=["size", "total", "all records"],
)
@pytest.mark.parametrize("factor", [Fraction(4, 5), Fraction(5, 4)])
def test_sizes_and_totals_are_told_from_a_rate_a_fifth_off(monkeypatch, name, test, factor):
    """With as many runs as an audit has by default."""
    law = getattr(laws, name)
    monkeypatch.setattr(laws, name, lambda *arguments: law(*arguments) * factor)

    assert test(seeded(runs=USUAL_RUNS))[0] < REJECT


def test_a_draw_that_is_used_twice_is_found(monkeypatch):
    """The second half of a call repeats the first, with the other sign."""

    def halved(counts, *, rate, bits):
        noise = add_noise(np.zeros(len(counts) // 2, np.int64), rate=rate, bits=bits)
        return counts + np.concatenate([noise, -noise])

    monkeypatch.setattr(primitives, "add_noise", halved)

    assert primitives.repeated_draws_test(seeded())[0] < REJECT
    assert primitives.pairs_test(seeded())[0] < REJECT


@pytest.mark.parametrize("name", METHODS)
def test_every_measurement_is_known_with_its_truth(name):
    """Without noise to speak of, each is its true value; and there are many."""
    arguments = {"domain": UNIT_SQUARE, "calibrate": False, "rng": simulation_rng(1)}
    release = publish(primitives.POINTS, epsilon=10**4, method=LARGE[name], **arguments)

    for measured, true_values in primitives.with_truth(release, primitives.POINTS):
        taken = measured.rate_index >= 0
        assert np.array_equal(measured.values[taken], true_values[taken])


@pytest.mark.parametrize("factor", [Fraction(19, 20), Fraction(21, 20)])
def test_the_noise_of_counts_is_told_from_a_rate_a_twentieth_off(monkeypatch, factor):
    """At every rate, with as many runs as an audit has by default."""
    off = lambda counts, *, rate, bits: add_noise(counts, rate=rate * factor, bits=bits)  # noqa: E731
    monkeypatch.setattr("hushgrid.privacy.budget.add_noise", off)

    for rate in primitives.SAMPLER_RATES:
        assert primitives.sampler_test(rate, seeded())[0] < REJECT
