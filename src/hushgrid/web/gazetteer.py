"""The names of places that a map shows and finds."""

from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.arrays import Floats, Indices
from hushgrid.geometry.domain import Bounds, Domain
from hushgrid.web.figures import Payload

MOST_INSIDE = 4500  # places of the domain that a page carries: with those beside it, less than 100 kB
MOST_BESIDE = 700
SQUARES = 40  # along each side; their largest places come first, so that no region is left without
SIDES_BEYOND = 1.0  # sides of the domain, all around: as far as the page lets one move
STEPS = 10_000  # of a degree, as finely as the places are bundled


class Gazetteer(NamedTuple):
    """Places with names, the largest first."""

    lon: Floats
    lat: Floats
    population: Indices
    names: pa.Array

    def take(self, chosen: Indices) -> "Gazetteer":
        """Some of the places, in the order asked for."""
        return Gazetteer(self.lon[chosen], self.lat[chosen], self.population[chosen], self.names.take(chosen))

    def within(self, bounds: Bounds) -> "Gazetteer":
        """The places that lie in a rectangle."""
        west, south, east, north = bounds
        return self.take(
            np.flatnonzero((west <= self.lon) & (self.lon <= east) & (south <= self.lat) & (self.lat <= north))
        )


@cache
def gazetteer() -> Gazetteer:
    """The bundled places that have a name.

    Examples
    --------
    >>> gazetteer().within((-74.26, 40.48, -73.70, 40.92)).names[:3].to_pylist()
    ['New York City', 'Brooklyn', 'Queens']
    """
    folder = resources.files("hushgrid") / "data"
    with (folder / "names.parquet").open("rb") as names, (folder / "places.parquet").open("rb") as places:
        every_name, points = pq.ParquetFile(names).read().combine_chunks(), pq.ParquetFile(places).read()
    named = np.flatnonzero(every_name["name"].is_valid().to_numpy())
    sizes = every_name["population"].chunk(0).take(named).to_numpy()
    largest_first = named[np.argsort(-sizes, kind="stable")]
    lon, lat = (points[axis].to_numpy()[largest_first] for axis in ("lon", "lat"))
    return Gazetteer(lon, lat, np.sort(sizes)[::-1], every_name["name"].chunk(0).take(largest_first))


def places_of(domain: Domain) -> Gazetteer:
    """The places that the page of a domain carries.

    All of them in a city; elsewhere the largest, and the largest of every region.
    """
    beyond_x, beyond_y = SIDES_BEYOND * domain.width, SIDES_BEYOND * domain.height
    around = (domain.west - beyond_x, domain.south - beyond_y, domain.east + beyond_x, domain.north + beyond_y)
    near = gazetteer().within(around)
    west, south, east, north = domain.bounds
    inside = (west <= near.lon) & (near.lon <= east) & (south <= near.lat) & (near.lat <= north)
    kept = [_spread(near, np.flatnonzero(inside), MOST_INSIDE), _spread(near, np.flatnonzero(~inside), MOST_BESIDE)]
    return near.take(np.sort(np.concatenate(kept)))


def _spread(places: Gazetteer, candidates: Indices, most: int) -> Indices:
    """Places that are spread over the map.

    Half are the largest of all; then come the largest in every square of a grid, then the next ones.
    """
    if len(candidates) <= most:
        return candidates
    column, row = (_slots(axis[candidates]) for axis in (places.lon, places.lat))
    largest = np.unique(row * SQUARES + column, return_index=True)[1]
    wanted = np.concatenate([np.arange(most // 2), np.sort(largest), np.arange(len(candidates))])
    first = np.sort(np.unique(wanted, return_index=True)[1])[:most]
    return np.asarray(candidates[wanted[first]])


def _slots(values: Floats) -> Indices:
    """Numbers of the equal parts of their range that values lie in."""
    low, high = values.min(), values.max()
    return np.asarray(np.minimum((values - low) / max(high - low, 1 / STEPS) * SQUARES, SQUARES - 1), np.int64)


def add_places(domain: Domain, payload: Payload) -> dict[str, int]:
    """Add the places near a domain to the payload.

    What is returned says how to read them. Names are bytes of UTF-8, signed so that each takes one byte there too.
    """
    places = places_of(domain)
    payload.add("placeX", np.rint(places.lon * STEPS))
    payload.add("placeY", np.rint(places.lat * STEPS))
    payload.add("placeSizes", places.population)
    payload.add("placeNames", np.frombuffer("\n".join(places.names.to_pylist()).encode(), np.int8))
    return {"steps": STEPS}
