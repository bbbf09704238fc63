"""What an attacker looks at in a release."""

from fractions import Fraction

import numpy as np
import pytest

from hushgrid.audit.examples import LARGE, SMALL
from hushgrid.audit.view import VIEWS, Place, leaves_of, privacy_loss, view
from hushgrid.inference.haar import transform
from hushgrid.methods import METHODS
from hushgrid.privacy.bits import simulation_rng
from hushgrid.release.publish import publish
from tests.plain import UNIT_SQUARE, PlainCounter, leaf_of

PLACES = (Place(0.2, 0.2, 7), Place(0.7, 0.3, 2))
SPOT = Place(0.1, 0.1)
POINTS = tuple(place[:2] for place in PLACES for _ in range(place.times))


def release_of(name, *, epsilon=2, seed=1):
    """A small release of the places."""
    arguments = {"epsilon": epsilon, "calibrate": False, "rng": simulation_rng(seed)}
    return publish(list(POINTS), domain=UNIT_SQUARE, method=SMALL[name], **arguments)


def log_likelihood(release, points):
    """Log probability of what was measured, but for a constant; straight from the definition of the noise."""
    true_counts = PlainCounter(UNIT_SQUARE, points).count(release.partition)
    measurements = release.measurements
    parts = [(measurements.leaves, true_counts)]
    regions = zip(measurements.regions.first, measurements.regions.stop, strict=True)
    parts.append((measurements.region_values, np.array([true_counts[first:stop].sum() for first, stop in regions])))
    if measurements.wavelet is not None:
        side = release.partition.rows
        parts.append((measurements.wavelet.coefficients, transform(true_counts.reshape(side, side)).ravel()))
    total = Fraction(0)
    for measured, true_values in parts:
        for value, true, index in zip(measured.values, true_values, measured.rate_index, strict=True):
            total -= measured.rates[index] * abs(int(value) - int(true)) if index >= 0 else 0
    if release.claim.size is not None:
        rate = next(spend.epsilon for spend in release.claim.spends if spend.purpose == "size")
        total -= rate * abs(release.claim.size.value - len(points))
    return total


def test_there_is_an_example_of_every_method():
    """A small one and a large one."""
    assert set(SMALL) == set(LARGE) == set(METHODS)
    assert all(example[name].name == name for example in (SMALL, LARGE) for name in METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_the_evidence_is_the_log_of_the_likelihood_ratio(name):
    """Of all measurements, whatever they are of."""
    for seed in range(5):
        release = release_of(name, seed=seed)
        expected = log_likelihood(release, POINTS) - log_likelihood(release, (*POINTS, SPOT[:2]))

        assert view(release, PLACES, SPOT)[0] == pytest.approx(float(expected))


@pytest.mark.parametrize("name", METHODS)
def test_the_evidence_never_exceeds_epsilon(name):
    """Pure differential privacy, release by release."""
    for seed in range(5):
        assert abs(view(release_of(name, seed=seed), PLACES, SPOT)[0]) <= 2 + 1e-9


@pytest.mark.parametrize("name", METHODS)
def test_places_are_found_in_their_leaves(name):
    """As the plain counter finds them."""
    partition = release_of(name).partition

    expected = [leaf_of(partition, *place[:2]) for place in PLACES]
    assert leaves_of(partition.bounds(), PLACES).tolist() == expected


def test_every_number_has_a_name():
    """As many numbers as names."""
    assert len(view(release_of("ug"), PLACES, SPOT)) == len(VIEWS)


def test_a_wavelet_without_records_is_no_evidence_against_itself():
    """At no noise, the record's coefficients all speak against it."""
    release = release_of("privlet", epsilon=10**6)
    true_counts = PlainCounter(UNIT_SQUARE, POINTS).count(release.partition)

    loss = privacy_loss(release, true_counts, leaf_of(release.partition, *SPOT[:2]), len(POINTS))
    assert loss == pytest.approx(10**6)
