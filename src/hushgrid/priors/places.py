"""The bundled places of the world, as a prior for maps of people."""

import hashlib
import math
from importlib import resources
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hushgrid.answering.outlines import transformed_places, transformer
from hushgrid.arrays import Floats, Indices
from hushgrid.compiled import compiled, run_in_slices
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, Domain
from hushgrid.priors.masses import RASTER_LEVEL, CellMasses, Source

NAME, LICENCE = "GeoNames places", "CC BY 4.0, GeoNames"
SPREADS = (3.0, 10.0)  # kilometres around a place, an equal mix of both
# People in a place whose population is not bundled: it has between 500 and 1,000.
FEWEST_PEOPLE = 500.0
# A place weighs this power of its population. At epsilon 0.1, errors on us_chains and uk_postcodes relative to those
# without a prior: .86 and .82 if all places weigh the same, .77 and .78 by roots, .76 and .91 by populations.
POWER = 0.5
REACH = 4.0  # spreads around a place; 0.006 % of its weight lies beyond
PIXELS_IN_SPREAD = 2  # across the smallest spread, unless that takes more than 2,048 pixels a side
KILOMETRES_PER_DEGREE = math.pi * 6371.0 / 180
SHALLOWEST = 3
SMALLEST_SLICE = 256  # rows of pixels that a thread is worth starting for


def places_prior(domain: Domain) -> CellMasses:
    """The bundled places, as blobs around each, for a domain."""
    folder = resources.files("hushgrid") / "data"
    contents = [(folder / name).read_bytes() for name in ("places.parquet", "names.parquet")]
    sha256 = hashlib.sha256(b"".join(contents)).hexdigest()
    places, names = (pq.ParquetFile(pa.BufferReader(content)) for content in contents)
    degrees = np.stack([axis.to_numpy() for axis in places.read(["lon", "lat"]).columns], axis=1)
    people = names.read(["population"])["population"].fill_null(0).to_numpy()
    pixels = blobs(located(degrees, weights_of(people), domain), domain)
    return CellMasses.of_raster(Source(name=NAME, kind="places", sha256=sha256, licence=LICENCE), pixels)


def weights_of(people: Indices) -> Floats:
    """What places weigh by their populations, one on average.

    Examples
    --------
    >>> weights_of(np.array([0, 2000, 4500]))
    array([0.5, 1. , 1.5])
    """
    roots = np.maximum(people, FEWEST_PEOPLE) ** POWER
    return np.asarray(roots / roots.mean(), np.float64)


class Located(NamedTuple):
    """Places in a domain's system, with the length of a kilometre there.

    Places and kilometres have shape (n, 2), and weights (n,). Kilometres are those to the east and to the north.
    """

    places: Floats
    kilometres: Floats
    weights: Floats

    def pick(self, chosen: NDArray[np.bool_]) -> "Located":
        """Some of the places."""
        return Located(*(part[chosen] for part in self))


def located(degrees: Floats, weights: Floats, domain: Domain) -> Located:
    """Find places in a domain's system, from longitudes and latitudes.

    Places that the system does not reach are left out.
    """
    north = np.full(len(degrees), 1 / KILOMETRES_PER_DEGREE)
    east = north / np.cos(np.radians(np.minimum(np.abs(degrees[:, 1]), 89.0)))
    if domain.is_geographic:
        return Located(degrees, np.stack([east, north], axis=1), weights)
    move = transformer(LONGITUDE_LATITUDE, domain.crs)
    places = transformed_places(move, degrees)
    # A kilometre to the side is followed into the domain's system, which may stretch it.
    shifted = [transformed_places(move, degrees + step) for step in _steps(east, north)]
    with np.errstate(invalid="ignore"):  # infinite where the system has no place
        kilometres = np.stack([np.hypot(*(moved - places).T) for moved in shifted], axis=1)
    known = np.isfinite(places).all(axis=1) & np.isfinite(kilometres).all(axis=1)
    return Located(places, kilometres, weights).pick(known)


def _steps(east: Floats, north: Floats) -> tuple[Floats, Floats]:
    nothing = np.zeros(len(east))
    return np.stack([east, nothing], axis=1), np.stack([nothing, north], axis=1)


def blobs(found: Located, domain: Domain) -> Floats:
    """Pixels of a domain, with the weight of each place around it.

    Each place is an equal mix of two Gaussians. Places outside reach in. Shape (side, side), the southernmost row
    first; pixels are fine enough for the smaller Gaussian, or 2,048 a side.
    """
    extent, corner = np.array([domain.width, domain.height]), np.array([domain.west, domain.south])
    beyond = REACH * max(SPREADS) * found.kilometres
    near = ((found.places >= corner - beyond) & (found.places <= corner + extent + beyond)).all(axis=1)
    places, kilometres, weights = found.pick(near)
    placed = Located((places - corner) / extent, kilometres / extent, weights / len(SPREADS))
    level, pixels = _level(placed.kilometres), np.zeros((1, 1))
    for spread in sorted(SPREADS, reverse=True):  # wider Gaussians are as smooth on coarser pixels
        coarser = int(math.log2(spread / min(SPREADS)))
        pixels = _with_blobs(pixels, placed, spread, level - coarser)
    return pixels


def _with_blobs(coarse: Floats, placed: Located, spread: float, level: int) -> Floats:
    """Finer pixels, with one more Gaussian around each place."""
    side = 1 << level
    pixels = np.empty((side, side))
    (x, y), (spread_x, spread_y) = side * placed.places.T, side * spread * placed.kilometres.T

    def add(first: int, stop: int) -> None:
        divide_evenly(coarse, pixels, first, stop)
        add_blobs(x, y, spread_x, spread_y, placed.weights, pixels, first, stop)

    run_in_slices(add, side, smallest=SMALLEST_SLICE)
    return pixels


def _level(kilometres: Floats) -> int:
    if len(kilometres) == 0:
        return SHALLOWEST
    pixels = PIXELS_IN_SPREAD / (min(SPREADS) * float(kilometres.min()))  # along a side
    return min(max(math.ceil(math.log2(pixels)), SHALLOWEST), RASTER_LEVEL)


@compiled
def divide_evenly(coarse: Floats, pixels: Floats, first: int, stop: int) -> None:
    """Write some rows of finer pixels, by dividing coarse ones evenly."""
    times = len(pixels) // len(coarse)
    for row in range(first, stop):
        for column in range(len(coarse)):
            part = coarse[row // times, column] / times**2
            for place in range(times * column, times * (column + 1)):
                pixels[row, place] = part


@compiled
def add_blobs(
    x: Floats, y: Floats, spread_x: Floats, spread_y: Floats, masses: Floats, pixels: Floats, first: int, stop: int
) -> None:
    """Add a Gaussian around each place, integrated over pixels of some rows.

    Places and spreads are in pixels.
    """
    columns = pixels.shape[1]
    across = np.empty(columns)
    for place in range(x.size):
        bottom = max(first, math.floor(y[place] - REACH * spread_y[place]))
        top = min(stop, math.ceil(y[place] + REACH * spread_y[place]))
        if bottom >= top:
            continue
        unit_x, unit_y = spread_x[place] * math.sqrt(2.0), spread_y[place] * math.sqrt(2.0)
        left = max(0, math.floor(x[place] - REACH * spread_x[place]))
        right = min(columns, math.ceil(x[place] + REACH * spread_x[place]))
        before = math.erf((left - x[place]) / unit_x)
        for column in range(left, right):
            after = math.erf((column + 1 - x[place]) / unit_x)
            across[column], before = after - before, after
        before = math.erf((bottom - y[place]) / unit_y)
        for row in range(bottom, top):
            after = math.erf((row + 1 - y[place]) / unit_y)
            along, before = masses[place] / 4 * (after - before), after
            for column in range(left, right):
                pixels[row, column] += along * across[column]
