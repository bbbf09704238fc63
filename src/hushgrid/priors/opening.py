"""Opens a prior, whatever it is made from."""

import hashlib
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.errors import ArgumentError, InputError, MissingExtraError
from hushgrid.files.footer import RELEASE, opened_json
from hushgrid.files.paths import ALIKE, MISSING, irregularity, near_file
from hushgrid.geometry.domain import Domain
from hushgrid.priors.masses import Source
from hushgrid.priors.places import places_prior
from hushgrid.priors.prior import Prior
from hushgrid.priors.rasters import raster_prior
from hushgrid.priors.releases import release_prior
from hushgrid.priors.vectors import Vectors, plain_text
from hushgrid.synopsis.synopsis import Synopsis, read

PLACES, NONE = "places", "none"
GEOJSON, PARQUET = frozenset({".geojson", ".json"}), b"PAR1"
TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")  # in both byte orders, and BigTIFF
KINDS = "a GeoTIFF, points or polygons in GeoJSON or Parquet, or a release"
WEIGHTED = "prior_weight names a column of points or polygons"


def open_prior(source: str | Path, domain: Domain, *, weight: str | None = None) -> Prior:
    """Open a public density for a domain.

    Parameters
    ----------
    source : str or path
        ``"places"``, the bundled places of the world; or a file: a GeoTIFF of population, points or polygons in
        GeoJSON or Parquet, an earlier release.
    domain : Domain
        The rectangle that the release will cover.
    weight : str, optional
        Property or column of points and polygons that says what each counts for, such as people.

    Privacy
    -------
    What is opened must be public, or released before, and must not have been made from the points that are to be
    published. No program can see whether it was.

    Examples
    --------
    >>> prior = open_prior("places", Domain(west=-8, south=49.5, east=2, north=61))
    >>> prior.name, prior.licence
    ('GeoNames places', 'CC BY 4.0, GeoNames')
    """
    if str(source) == PLACES:
        if weight is not None:
            msg = f"{WEIGHTED}, and places have none. Leave it out."
            raise ArgumentError(msg)
        return places_prior(domain)
    path = Path(source)
    complaint = irregularity(path) if str(source) else "has no name"
    if complaint is not None:
        near = _near(path) if complaint == MISSING else None
        msg = f"the prior {path} {complaint}. A prior is {PLACES!r}, {KINDS}."
        raise InputError(msg, instead={"prior": near} if near else None)
    try:
        return _reader(path, weight)(domain)
    except (InputError, MissingExtraError):
        raise
    except ArgumentError as error:
        msg = f"cannot use {path} as a prior: {error}"
        raise InputError(msg) from None
    except OSError as error:
        msg = f"cannot use {path} as a prior: {error.strerror or error}."
        raise InputError(msg) from None


def _near(path: Path) -> str | None:
    """The word or file that a missing path likely meant."""
    words = get_close_matches(str(path), (PLACES, NONE), n=1, cutoff=ALIKE)
    return words[0] if words else near_file(path)


def _reader(path: Path, weight: str | None) -> Callable[[Domain], Prior]:
    """What reads a file, by its first bytes and its name."""
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(0)
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    source = Source(name=plain_text(path.name) or "a file", kind="", sha256=sha256)
    if start in TIFF:
        _refuse_weight(weight, "a GeoTIFF")
        return lambda domain: raster_prior(source, path, domain)
    if start == PARQUET and _is_release(path):
        _refuse_weight(weight, "a release")
        return lambda domain: release_prior(source, _one_release(path), domain)
    if start == PARQUET:
        return lambda domain: Vectors.of_parquet(path.read_bytes(), weight).prior(source, domain)
    if path.suffix.lower() in GEOJSON:
        return lambda domain: Vectors.of_geojson(path.read_bytes(), weight).prior(source, domain)
    msg = f"it is not {KINDS}."
    raise ArgumentError(msg)


def _one_release(path: Path) -> Synopsis:
    """A release that is not in slices."""
    if opened_json(pq.read_schema(path).metadata).has("slices"):
        msg = "it holds several slices. Save one release of it as a file of its own: hushgrid.read(FILE).total.save("
        msg += "'total.dp.parquet'), or of a slice hushgrid.read(FILE).shown('NAME').save('one.dp.parquet')."
        raise ArgumentError(msg)
    return read(path)


def _is_release(path: Path) -> bool:
    try:
        return RELEASE in (pq.read_schema(path).metadata or {})
    except pa.ArrowException:
        msg = "it is damaged or cut short."
        raise ArgumentError(msg) from None


def _refuse_weight(weight: str | None, what: str) -> None:
    if weight is not None:
        msg = f"{WEIGHTED}, and it is {what}. Leave it out."
        raise ArgumentError(msg)
