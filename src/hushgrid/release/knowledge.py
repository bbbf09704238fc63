"""What is public already, and may sharpen a release."""

from pathlib import Path

from hushgrid.counting.counter import Counter
from hushgrid.counting.engine.address import files_of
from hushgrid.errors import ArgumentError
from hushgrid.files.paths import is_same_file
from hushgrid.geometry.domain import Domain
from hushgrid.methods.areas import Areas
from hushgrid.methods.method import Method, public_partition
from hushgrid.methods.staq import AimedQuadtree, Staq
from hushgrid.priors.opening import NONE, PLACES, open_prior
from hushgrid.priors.prior import Prior
from hushgrid.privacy.budget import Budget
from hushgrid.release.auto import Auto
from hushgrid.slices.by import By
from hushgrid.synopsis.synopsis import Synopsis

# What a request that names no prior gets, on longitude and latitude: NONE or PLACES.
BY_DEFAULT = NONE


def default_prior(method: Method, domain: Domain) -> str:
    """The prior of a request that names none: ``"places"`` or ``"none"``."""
    return BY_DEFAULT if can_be_sharpened(method) and domain.is_geographic else NONE


def can_be_sharpened(method: Method) -> bool:
    """Whether a prior can sharpen what a method releases."""
    return isinstance(method, Auto) or (isinstance(method, Staq) and method.inference == "belief")


def known_before(given: str | Path | None, weight: str | None, *, method: Method, domain: Domain) -> Prior | None:
    """The prior of a request, opened; None where it has none.

    Nothing of it depends on the points: it is opened before anything is charged or read.

    Parameters
    ----------
    given : str, path or None
        ``"places"``, ``"none"``, a file; None for what is usual.
    weight : str, optional
        The column of weights of points or polygons.
    """
    if given is not None and not isinstance(given, str | Path):
        msg = f"prior must be {PLACES!r}, {NONE!r} or the path of a file, got {type(given).__name__}."
        raise ArgumentError(msg)
    source = default_prior(method, domain) if given is None else given
    if str(source) == NONE:
        if weight is not None:
            msg = "prior_weight is the column of weights of a prior, and there is no prior. Name one: prior=FILE."
            raise ArgumentError(msg)
        return None
    _check_method(method, domain, "prior", "a prior")
    return open_prior(source, domain, weight=weight)


def _check_method(method: Method, domain: Domain, argument: str, what: str) -> None:
    """Refuse what sharpens releases of staq where they are by another method."""
    if can_be_sharpened(method):
        return
    if isinstance(method, AimedQuadtree):
        msg = f"{what} does not go together with an aim at a scale. Leave out {argument}, or aim."
        raise ArgumentError(msg)
    msg = f"{what} sharpens releases by staq with inference='belief', and the method is {method.name!r}. Leave out "
    msg += f"{argument}, or publish by staq."
    is_asked_for_cells = public_partition(method, domain) is not None  # of areas or of a grid, which staq has not
    raise ArgumentError(msg, instead=None if is_asked_for_cells else {"method": Staq.name})


def refuse_points(given: str | Path | None, points: object, *, argument: str = "prior") -> None:
    """Refuse a prior or an aim that is the points themselves.

    It would carry exact counts past all noise. Links to the file are known, as are files that a folder holds, and those
    that the address of an engine names. A copy cannot be told from a public file.

    Parameters
    ----------
    given : str, path or None
        The prior of the request, as it was named, or the file of its places.
    points : object
        What is to be published; only a path or an address says which files it is read from.
    """
    if given is None or str(given) in (PLACES, NONE):
        return
    if any(is_same_file(Path(given), file) for file in files_of(points)):
        msg = f"the {argument} {given} is the points that are to be published. {argument.capitalize()}s must be "
        msg += "public, and must not have been made from them. Name a public file, or leave it out."
        raise ArgumentError(msg, instead={"prior": PLACES} if argument == "prior" else None)


def check_series(
    method: Method, domain: Domain, *, prior: str | Path | None, places: Areas | None, by: By | None
) -> None:
    """Refuse a series whose last release could not sharpen this one.

    The prior is as it was named: to want none and a series is refused, too.
    """
    if by is not None:
        msg = "series and by do not go together: slices are sharpened by their own total. Leave out series."
        raise ArgumentError(msg)
    if prior is not None:
        msg = "series takes the last release of the data set as the prior. Leave out prior, or series."
        raise ArgumentError(msg)
    if places is not None:
        msg = "a series does not go together with an aim at places. Leave out series, or aim."
        raise ArgumentError(msg)
    _check_method(method, domain, "series", "a series")


def release_with(prior: Prior | None, method: Method, counter: Counter, budget: Budget) -> Synopsis:
    """Publish by a method, sharpened by a prior if there is one."""
    if prior is None:
        return method.release(counter, budget)
    if not isinstance(method, Auto | Staq):  # a request was refused before; a file may say anything
        msg = f"a prior sharpens releases by staq, and the method is {method.name!r}."
        raise ArgumentError(msg)
    return method.release(counter, budget, prior)
