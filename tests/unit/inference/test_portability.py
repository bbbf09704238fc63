"""No inference makes more of a last digit than `verify` allows for (decision 10).

Other processors round otherwise: they add several numbers at a time, multiply and add in one step, or have another
logarithm. Here every stage of every inference gets such errors, at random, and the counts must hardly move.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import hushgrid as hg
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.files.verify import TOLERANCE
from hushgrid.inference import belief, belief_prior, measurements, pooled, slopes, splits
from hushgrid.inference import belief_loops as belief_kernels
from hushgrid.inference import inferences as estimate
from hushgrid.inference import least_squares as tree_least_squares
from hushgrid.inference import least_squares as trees
from hushgrid.inference import split_loops as split_kernels
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.pooled import AKIN, FOREIGN
from hushgrid.methods import METHODS
from hushgrid.priors.sharpen import sharpened
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from tests.plain import UNIT_SQUARE
from tests.priors import clustered, good_prior, staq

ROUNDING = 1e-15  # relative, ten times what the last digit is worth

STAGES = [  # module, name of a function, and which of its arguments it writes to, where it returns nothing
    (measurements, "discrete_laplace_variance", ()),
    (tree_least_squares, "average_by_node", ()),
    (trees, "gather_up", (4, 5)),
    (trees, "spread_down", (4,)),
    (trees, "vary_down", (3,)),
    (split_kernels, "foretell_across", (6,)),
    (split_kernels, "foretell_along", (6,)),
    (split_kernels, "observe_shares", (3, 4)),
    (split_kernels, "weigh_components", (4, 5)),
    (splits, "log_norms", ()),
    (splits, "fit_coefficients", ()),
    (splits, "fit_weights", ()),
    (slopes, "fit_coefficients", ()),
    (slopes, "lean_of_nodes", (9,)),
    (slopes, "lean_of_halves", (9,)),
    (slopes, "observe_shares", (3, 4)),
    (estimate, "refined_means", ()),
    (estimate, "restore", ()),
    (pooled, "gather_slopes", (6, 7)),
    (pooled, "measured_shares", ()),
    (pooled, "means_of", ()),
    (pooled, "leans_of", ()),
    (belief_prior, "lesson_of_splits", ()),
    (belief_prior, "learned_means", ()),
    (belief_prior, "pooled_means", ()),
    (belief_prior, "evidence_of", ()),
    (belief_prior, "fit_weights", ()),
    (belief_prior, "means_of", ()),
    (belief, "second_tables", ()),
    (belief, "cumulative_tables", ()),
    (belief, "powers_of_masses", ()),
    (belief_kernels, "observe_leaves", (3,)),
    (belief_kernels, "send_up", (2,)),
    (belief_kernels, "send_down", (4,)),
]


def rounded_otherwise(value, rng):
    """Numbers with errors in their last digits; arrays that are written to stay the same arrays."""
    if isinstance(value, tuple):
        parts = [rounded_otherwise(part, rng) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, float):
        return value * (1 + ROUNDING * rng.standard_normal())
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value * (1 + ROUNDING * rng.standard_normal(value.shape))
    return value


def rounding_otherwise(function, written, rng):
    """A stage of an inference on another processor."""

    def stage(*arguments):
        result = function(*arguments)
        for number in written:
            array = getattr(arguments[number], "messages", arguments[number])
            array[...] = rounded_otherwise(array, rng)
        return rounded_otherwise(result, rng)

    return stage


@pytest.fixture
def another_processor(monkeypatch):
    """Makes all stages round otherwise, each time in another way."""
    monkeypatch.setenv("HUSHGRID_THREADS", "1")
    plain = [(module, name, written, getattr(module, name)) for module, name, written in STAGES]

    def switch(seed):
        rng = np.random.default_rng(seed)
        for module, name, written, function in plain:
            monkeypatch.setattr(module, name, rounding_otherwise(function, written, rng))

    return switch


def town(size):
    """Points in streets and on squares, some of them on one spot, and blank space beside."""
    rng = np.random.default_rng(0)
    streets = np.stack([rng.integers(1, 20, size) / 20 + 0.001 * rng.random(size), rng.random(size)], axis=1)
    squares = rng.normal(rng.random((30, 2))[rng.integers(30, size=size)], 0.01)
    spots = np.repeat(rng.random((5, 2)), size // 20, axis=0)
    return 0.7 * np.concatenate([streets, squares, spots])


RELEASES = {
    **{name: (make(), Fraction(1)) for name, make in METHODS.items()},
    "ag, sloped": (hg.AdaptiveGrid(smooth=True), Fraction(1)),
    "staq by least squares": (hg.Staq(inference="least-squares"), Fraction(1)),
    "staq by bayes": (hg.Staq(inference="bayes"), Fraction(1)),
    "staq, little noise": (hg.Staq(), Fraction(10)),
    "staq, much noise": (hg.Staq(), Fraction(1, 50)),
    "staq, no noise to speak of": (hg.Staq(deepest=9), Fraction(1000)),
    "staq by bayes, no noise to speak of": (hg.Staq(inference="bayes", deepest=9), Fraction(1000)),
}


def check_other_processors(synopsis, another_processor):
    """Counts stay as they are, nothing of them remembered from before."""
    for seed in range(5):
        another_processor(seed)
        synopsis.measurements.leaves.__dict__.pop("variances", None)
        synopsis.measurements.region_values.__dict__.pop("variances", None)
        evidence = Evidence(synopsis.partition, synopsis.measurements, synopsis.evidence.prior)
        counts = INFERENCES[synopsis.inference].counts(evidence)
        moved = np.abs(counts - synopsis.counts) / (1 + np.abs(synopsis.counts))
        assert moved.max() < TOLERANCE


@pytest.mark.parametrize("name", RELEASES)
def test_last_digits_stay_last_digits(name, another_processor):
    """Of every method's release, at every stage of its inference."""
    method, epsilon = RELEASES[name]
    counter = PointCounter(UNIT_SQUARE, ArrayPoints(town(10_000)))
    synopsis = method.release(counter, Budget(epsilon, bits=simulation_rng(1)))
    check_other_processors(synopsis, another_processor)


@pytest.mark.parametrize("trust", [FOREIGN, AKIN], ids=["foreign", "akin"])
@pytest.mark.parametrize("epsilon", [0.02, 1, 10])
def test_priors_make_no_more_of_last_digits(epsilon, trust, another_processor):
    """Of sharper releases, with much noise and with little, however far the prior is believed."""
    release = staq(clustered(10_000, seed=0), epsilon=epsilon)
    synopsis = sharpened(release, replace(good_prior(), trust=trust))
    assert synopsis.prior.used
    check_other_processors(synopsis, another_processor)
