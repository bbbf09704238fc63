"""Warnings for the steward of a release.

They follow from arguments and released values alone.
"""

import math
from fractions import Fraction

from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain, exact_text
from hushgrid.inference.measurements import discrete_laplace_variance
from hushgrid.synopsis.synopsis import Synopsis

PROMISES_LITTLE = 20  # of epsilon: odds may change by a factor of hundreds of millions
CLEAR_GAP = 6  # standard deviations of the noise; chance alone makes such a gap once in thousands of releases


def epsilon_warning(epsilon: Fraction) -> str | None:
    """Warn of a budget so large that it hardly protects.

    Examples
    --------
    >>> epsilon_warning(Fraction(1)) is None, epsilon_warning(Fraction(50))[:35]
    (True, 'epsilon 50 protects next to nobody.')
    """
    if epsilon <= PROMISES_LITTLE:
        return None
    return (
        f"epsilon {float(epsilon):g} protects next to nobody. Common values are 0.1 to 10; smaller is more private. "
        "'hushgrid plan' tells how accurate a release with less would be."
    )


def domain_warning(synopsis: Synopsis) -> str | None:
    """Warn of a domain that seems to miss most rows.

    Swapped axes look like this, and so does a domain that covers only part of the data.
    """
    if not _misses_most_rows(synopsis):
        return None
    return (
        "far fewer points seem to lie in the domain than there are rows. Are longitude and latitude swapped? "
        f"Then exchange lon and lat (--lon and --lat){_exchanged(synopsis.domain)}. "
        "Are the points in metres? Then name their system, as in crs='EPSG:32618' (--crs EPSG:32618). "
        "If the domain is meant to cover only part of the data, size_from='domain' (--size-from domain) gives a "
        "better grid. Publishing again spends budget again."
    )


def _misses_most_rows(synopsis: Synopsis) -> bool:
    """Whether clearly less than half of the rows count.

    Judged by the noisy total and the noisy number of rows.
    """
    claim = synopsis.claim
    if claim.size is None or claim.size.source != "rows":
        return False
    if synopsis.counts.sum() >= claim.size.value / 2:  # spares the usual release the question below
        return False
    rate = next(spend.epsilon for spend in claim.spends if spend.purpose == "size")
    total = synopsis.answer(synopsis.domain.bounds)
    noise_std = math.sqrt(discrete_laplace_variance(rate) + total.noise_std**2)
    gap = claim.size.value - total.estimate
    return bool(total.estimate < claim.size.value / 2 and gap > CLEAR_GAP * noise_std)


def _exchanged(domain: Domain) -> str:
    """The domain with its axes exchanged, where that is a domain."""
    west, south, east, north = domain.bounds
    try:
        other = Domain(west=south, south=west, east=north, north=east, crs=domain.crs)
    except ArgumentError:
        return ""
    return f", or give the domain as {exact_text(other.bounds)}"
