"""What an attacker looks at in a release.

These are a few numbers, chosen to tell two neighbouring data sets apart.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Indices
from hushgrid.inference.haar import transform
from hushgrid.inference.measurements import NoisyValues, Wavelet
from hushgrid.synopsis.synopsis import Synopsis


class Place(NamedTuple):
    """Records at one spot, all of one user.

    The user is empty where users do not matter.
    """

    longitude: float
    latitude: float
    times: int = 1
    user: str = ""


WIDTH = "the width of the record's cell"
VIEWS = (
    "the evidence against the record",
    "the number of cells",
    "the number of regions measured",
    WIDTH,
    "the count of the record's cell",
    "the measurement of the record's cell",
    "the difference between the record's cell and another",
    "the total",
    "the sum of all measurements",
    "the count of the quarter around the record",
    "the difference between the first cell and the last",
    "the noisy number of records",
    "the noisy number of all records, kept or not",
)


def view(release: Synopsis, places: Sequence[Place], spot: Place) -> tuple[float, ...]:
    """The numbers that `VIEWS` names.

    Parameters
    ----------
    places : sequence of Place
        The data set without the record. The attacker knows everything except whether the record is there.
    spot : Place
        Where the record would be.
    """
    bounds = release.partition.bounds()
    homes = leaves_of(bounds, [*places, spot])
    true_counts = np.zeros(len(bounds), np.int64)
    np.add.at(true_counts, homes[:-1], [place.times for place in places])
    here = int(homes[-1])
    counts, values = release.counts, release.measurements.leaves.values
    west, south, east, north = release.domain.bounds
    return (
        privacy_loss(release, true_counts, here, sum(place.times for place in places)),
        len(bounds),
        len(release.measurements.regions.first),
        bounds[here, 2] - bounds[here, 0],
        counts[here],
        values[here],
        values[here] - values[here - 1],
        release.total,
        values.sum(),
        float(np.sum(release.count((west, south, (west + east) / 2, (south + north) / 2)))),
        values[0] - values[-1],
        release.claim.size.value if release.claim.size else 0,
        release.claim.total.value if release.claim.total else 0,
    )


def leaves_of(bounds: NDArray[np.float64], places: Sequence[Place]) -> Indices:
    """Leaf of each place, none on an edge."""
    longitudes = np.array([[place.longitude] for place in places])
    latitudes = np.array([[place.latitude] for place in places])
    west, south, east, north = bounds.T
    inside = (west <= longitudes) & (longitudes < east) & (south <= latitudes) & (latitudes < north)
    return np.asarray(inside.argmax(axis=1), np.int64)


def privacy_loss(release: Synopsis, true_counts: Indices, here: int, true_size: int) -> float:
    """Log-likelihood ratio of a release, without a record and with it.

    It holds if the noise is as claimed, and says how much likelier the release is without the record in its leaf.

    By Neyman and Pearson, no other number tells more. It takes the structure as given, because that follows from the
    measurements.
    """
    measurements, claim = release.measurements, release.claim
    first, stop = measurements.regions.first, measurements.regions.stop
    above = np.flatnonzero((first <= here) & (here < stop))
    running = np.concatenate([[0], np.cumsum(true_counts)])
    loss = _loss(measurements.leaves, np.array([here]), true_counts[[here]])
    loss += _loss(measurements.region_values, above, running[stop[above]] - running[first[above]])
    if measurements.wavelet is not None:
        loss += _wavelet_loss(measurements.wavelet, release.partition.bounds(), true_counts, here)
    if claim.size is not None and claim.size.source != "public":
        rate = next(spend.epsilon for spend in claim.spends if spend.purpose == "size")
        loss += float(rate) * (abs(claim.size.value - true_size - 1) - abs(claim.size.value - true_size))
    return loss


def _loss(measured: NoisyValues, which: Indices, true_values: Indices, steps: Indices | int = 1) -> float:
    """Privacy loss of some of the values.

    The record changes each of them by a step.
    """
    rates = np.array([*map(float, measured.rates), 0.0])[measured.rate_index[which]]  # the last: not measured
    noise = measured.values[which] - true_values
    return float(np.sum(rates * (np.abs(noise - steps) - np.abs(noise))))


def _wavelet_loss(wavelet: Wavelet, bounds: NDArray[np.float64], true_counts: Indices, here: int) -> float:
    rows, columns = (len(np.unique(bounds[:, axis])) for axis in (1, 0))
    record = np.zeros_like(true_counts)
    record[here] = 1
    steps = transform(record.reshape(rows, columns)).ravel()
    true_values = transform(true_counts.reshape(rows, columns)).ravel()
    return _loss(wavelet.coefficients, np.arange(len(steps)), true_values, steps)
