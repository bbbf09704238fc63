"""Signs that a release is not what was meant, from public arguments and released values alone."""

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from hushgrid.cli.notes import warn
from hushgrid.cli.parameters import exact_text
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain

if TYPE_CHECKING:
    from hushgrid.synopsis.synopsis import Synopsis

CLEAR_GAP = 6  # standard deviations of the noise; chance alone makes such a gap once in thousands of releases
PROMISES_LITTLE = 20  # of epsilon: odds may change by a factor of hundreds of millions


def warn_of_large(epsilon: Fraction) -> None:
    """Say that a budget is so large that it hardly protects."""
    if epsilon > PROMISES_LITTLE:
        warn(
            f"epsilon {float(epsilon):g} protects next to nobody. Usual are 0.1 to 10; less is more private. "
            "'hushgrid plan' tells how accurate a release with less would be."
        )


def warn_of_misplaced(synopsis: "Synopsis") -> None:
    """Say that hardly any points seem to lie in the domain, and why that may be."""
    if seems_misplaced(synopsis):
        warn(
            "far fewer points seem to lie in the domain than there are rows. Are longitude and latitude swapped? "
            f"Then exchange --lon and --lat{_exchanged(synopsis.domain)}. "
            "Are the points in metres? Then name their system with --crs. "
            "If the domain is meant to cover only part of the data, --size-from domain gives a better grid. "
            "Publishing again spends budget again."
        )


def _exchanged(domain: Domain) -> str:
    """The domain with longitude and latitude exchanged, where those are degrees."""
    west, south, east, north = domain.bounds
    try:
        other = Domain(west=south, south=west, east=north, north=east, crs=domain.crs)
    except ArgumentError:
        return ""
    return f", or give --domain {exact_text(other.bounds)}"


def seems_misplaced(synopsis: "Synopsis") -> bool:
    """Whether the domain seems to hold less than half of the rows, judged from released values alone.

    Swapped axes look like this, and a domain that covers only part of the data.
    """
    from hushgrid.inference.measurements import discrete_laplace_variance

    claim = synopsis.claim
    if claim.size is None or claim.size.source != "rows":
        return False
    rate = next(spend.epsilon for spend in claim.spends if spend.purpose == "size")
    total = synopsis.answer(synopsis.domain.bounds)
    noise_std = math.sqrt(discrete_laplace_variance(rate) + total.noise_std**2)
    gap = claim.size.value - total.estimate
    return bool(total.estimate < claim.size.value / 2 and gap > CLEAR_GAP * noise_std)
