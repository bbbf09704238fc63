"""Warnings for the steward of a release.

They follow from arguments and released values alone.
"""

import math
from dataclasses import replace
from fractions import Fraction

from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain, exact_text
from hushgrid.inference.measurements import discrete_laplace_variance
from hushgrid.methods.areas import Areas
from hushgrid.release.request import ReleaseRequest
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.answer import Answer, normal_reach
from hushgrid.synopsis.facts import Facts, total_answer
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


def noise_warning(request: ReleaseRequest, points_about: int | None = None) -> str | None:
    """Warn of a release that would be nothing but noise.

    That is if one total in twenty would be off by more than there is to count. How much there is follows from the
    public size or, where none is declared, from `points_about`; nothing is read.

    Examples
    --------
    >>> domain = Domain(west=0, south=0, east=1, north=1)
    >>> print(noise_warning(ReleaseRequest.of(domain=domain, epsilon=1), 5000))
    None
    >>> print(noise_warning(ReleaseRequest.of(domain=domain, epsilon="0.001"), 5000)[:78])
    the release would be mostly noise: of about 5,000 points, the total may be off
    """
    size = points_about if request.public_size is None else request.public_size
    reach = None if size is None else total_reach(request, size)
    if size is None or reach is None or reach <= size:
        return None
    most = 1 if request.users is None else request.users.max_per_user
    counted = "points" if request.users is None else "kept records"
    shared = f", shared by up to {most:,} records of each user" if most > 1 else ""
    return (
        f"the release would be mostly noise: of about {size:,} {counted}, the total may be off by "
        f"{float(f'{reach:.2g}'):,.0f} at epsilon {float(request.epsilon):g}{shared}. 'hushgrid plan' tells what a "
        f"larger epsilon{' or fewer records of a user' if most > 1 else ''} would give."
    )


def total_reach(request: ReleaseRequest, size: int) -> float:
    """How far a total may be off, 95 % of the time.

    It is the sum of all cells, each of which is taken to be measured once.
    """
    cost = replace(request.cost, size=size)
    cells: float = cost.about_cells
    if isinstance(request.cells, AreaPartition) and isinstance(request.method, Areas):
        shares = request.method.shares_of(request.cells)
        levels = zip(request.cells.all_levels, map(float, shares), strict=True)
        cells = min(len(level.names) / share**2 for level, share in levels if share > 0)
    return normal_reach(0.95) * math.sqrt(2 * cells) / cost.epsilon


def domain_warning(synopsis: Synopsis) -> str | None:
    """Warn of a release that seems to miss most points.

    Swapped axes look like this, and so does a domain that covers only part of the data. It is judged by released
    values, the total against the noisy number of rows.
    """
    size = synopsis.claim.size
    return _too_few(synopsis) if size is not None and size.source == "rows" else None


def total_warning(release: Synopsis | Slices) -> str | None:
    """Warn a steward of a total that cannot be right, or says nothing.

    It is far below a public size, lost in the noise, or above the public total that counts were scaled to. Where a
    noisy number of rows tells more, `domain_warning` has judged it; of a period that is the number of its own rows,
    which tells nothing of times that were misread. Python does not warn of it: programs that try things out on a few
    points see the total.
    """
    whole = release.total if isinstance(release, Slices) else release
    size = None if whole is None else whole.claim.size
    by_rows = size is not None and size.source == "rows"
    if whole is not None and (said := _too_few(whole)) is not None:
        return None if by_rows else said
    if isinstance(release, Slices):
        shown, total, spelt = release.shown(), release.total_of_all(), ARE_SLICES_SPELT
    elif by_rows and release.claim.unit == "record" and release.period is None:
        return None
    else:
        shown, total, spelt = release, total_answer(release, confidence=0.95), ""
    if total.usable:
        return _total_exceeded(shown, total)
    return (
        f"the release says little: its total is about {total.estimate:,.0f} {Facts.of(shown).counted}, "
        f"{total.low:,.0f} to {total.high:,.0f}. If there should be many more, points were misread. "
        f"{spelt}{_what_to_try(shown)}"
    )


ARE_SLICES_SPELT = "Are the values or times of the slices written as they are in the data? "


def _total_exceeded(synopsis: Synopsis, total: Answer) -> str | None:
    """Warn of a public total that is clearly less than what was counted."""
    scale = synopsis.scale
    if scale is None or scale.source != "public":
        return None
    found, noise_std = float(total.estimate) / scale.factor, float(total.noise_std) / scale.factor
    if found - CLEAR_GAP * noise_std <= scale.total:
        return None
    return (
        f"counts were scaled down to the public total of {scale.total:,}, but about {found:,.0f} records were found. "
        "Is the total in thousands, or that of another period? Publishing again spends budget again."
    )


def _too_few(synopsis: Synopsis) -> str | None:
    claim = synopsis.claim
    if not _misses_most_points(synopsis):
        return None
    assert claim.size is not None
    known = "there are rows" if claim.size.source == "rows" else f"the public size of {claim.size.value:,} says"
    return f"far fewer {claim.counted} seem to lie in the domain than {known}. {_what_to_try(synopsis)}"


def _misses_most_points(synopsis: Synopsis) -> bool:
    """Whether clearly less than half of the points count.

    Judged by the noisy total, and the noisy number of rows or the public size.
    """
    claim, factor = synopsis.claim, 1.0 if synopsis.scale is None else synopsis.scale.factor
    if claim.size is None or claim.size.source == "domain" or (claim.size.source == "rows" and claim.unit == "user"):
        return False
    if synopsis.counts.sum() / factor >= claim.size.value / 2:  # spares the usual release the question below
        return False
    rates = [spend.epsilon for spend in claim.spends if spend.purpose == "size"]  # none for a public size
    total = synopsis.answer(synopsis.domain.bounds)
    noise_std = math.sqrt(sum(map(discrete_laplace_variance, rates)) + (total.noise_std / factor) ** 2)
    estimate = total.estimate / factor
    return bool(estimate < claim.size.value / 2 and claim.size.value - estimate > CLEAR_GAP * noise_std)


def _what_to_try(synopsis: Synopsis) -> str:
    """Likely causes, and what mends them."""
    size, period = synopsis.claim.size, synopsis.period
    part = times = ""
    if period is not None:
        times = f"Is {period.words} the right period, and are times written as timestamps, dates or text in ISO 8601, "
        times += "such as 2026-03-31 14:05? Records with other times are left out. "
    if size is not None and size.source == "rows" and synopsis.claim.unit == "record":
        part = "If the domain is meant to cover only part of the data, size_from='domain' (--size-from domain) gives a "
        part += "better grid. "
    return (
        f"{times}Are longitude and latitude swapped? "
        f"Then exchange lon and lat (--lon and --lat){_exchanged(synopsis.domain)}. "
        "Are the points in metres? Then name their system, as in crs='EPSG:32618' (--crs EPSG:32618). "
        f"{part}To see the first rows, not privately, add --check --look (in Python, hg.check with look=True). "
        "Publishing again spends budget again."
    )


def _exchanged(domain: Domain) -> str:
    """The domain with its axes exchanged, where that is a domain."""
    west, south, east, north = domain.bounds
    try:
        other = Domain(west=south, south=west, east=north, north=east, crs=domain.crs)
    except ArgumentError:
        return ""
    return f", or give the domain as {exact_text(other.bounds)}"
