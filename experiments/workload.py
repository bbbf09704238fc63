"""Queries and their true answers: the paper's rectangles, and workloads that people really ask, by name.

An experiment may look at the truth: hot spots are centred on data points, empty squares are placed where none are.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from experiments.datasets import data_folder
from experiments.datasets.dataset import Dataset
from hushgrid.geometry.domain import Domain
from hushgrid.synopsis.synopsis import Synopsis

Floats = NDArray[np.float64]
Shapes = NDArray[Any]  # polygons of shapely, shape (n,), or rectangles, shape (n, 4)

# Qardaji et al. 2013, section V-A.
QUERY_SIZES = 6
RECTS_PER_SIZE = 200

QUERIES_EACH = 200  # of a workload by name, at most; all counties are asked
FEWEST_QUERIES = 20  # a workload that finds fewer is not asked
EMPTY_SHARES = (0.0025, 0.02)  # of the domain's sides
EMPTY_CANDIDATES = 4000
POLYGON_SHARES = (0.01, 0.1)  # of the domain's sides is the reach of a polygon, log-uniformly
POLYGON_CORNERS = (7, 20)
LEAST_REACH = 0.3  # of a corner, as a share of the polygon's
KM_PER_DEGREE = 111.32  # of latitude
LEAST_COSINE = 0.01  # of a latitude; squares on the ground do not go nearer to a pole
COUNTIES = "us_counties.geojson"  # in the data folder


def workload(domain: Domain, largest_query: tuple[float, float], *, seed: int) -> Floats:
    """Rectangles of six sizes, each half as wide and half as high as the next, placed uniformly inside the domain.

    Returns
    -------
    array of float, shape (6, 200, 4)
        West, south, east, north of each rectangle, the smallest first.

    Examples
    --------
    >>> rects = workload(Domain(west=0, south=0, east=60, north=40), (40, 20), seed=1)
    >>> rects.shape
    (6, 200, 4)
    >>> (rects[:, 0, 2:] - rects[:, 0, :2]).round(4)
    array([[ 1.25 ,  0.625],
           [ 2.5  ,  1.25 ],
           [ 5.   ,  2.5  ],
           [10.   ,  5.   ],
           [20.   , 10.   ],
           [40.   , 20.   ]])
    """
    extent = np.array([domain.width, domain.height])
    halvings = np.arange(QUERY_SIZES - 1, -1, -1)
    size = (np.array(largest_query) / 2.0 ** halvings[:, None])[:, None, :]
    place = np.random.default_rng(seed).random((QUERY_SIZES, RECTS_PER_SIZE, 2))
    low = (domain.west, domain.south) + place * (extent - size)
    # The sum may round to just beyond the edge.
    high = np.minimum(low + size, (domain.east, domain.north))
    return np.concatenate([low, high], axis=2)


def true_counts(points: NDArray[np.float64], rects: NDArray[np.float64]) -> NDArray[np.int64]:
    """Exact number of points in each closed rectangle, shape (n,).

    Points are sorted by longitude once, so that a rectangle only looks at those of its own strip.

    Examples
    --------
    >>> true_counts(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.5]]), np.array([[0.0, 0.0, 1.0, 1.0], [1.5, 0, 3, 0.4]]))
    array([2, 0])
    """
    ordered = points[np.argsort(points[:, 0])]
    longitudes, latitudes = np.ascontiguousarray(ordered.T)
    first = np.searchsorted(longitudes, rects[:, 0], side="left")
    stop = np.searchsorted(longitudes, rects[:, 2], side="right")
    counts = np.empty(len(rects), np.int64)
    for index, (_, south, _, north) in enumerate(rects):
        strip = latitudes[first[index] : stop[index]]
        counts[index] = np.count_nonzero((strip >= south) & (strip <= north))
    return counts


def true_polygon_counts(points: Floats, polygons: Shapes) -> NDArray[np.int64]:
    """Exact number of points in each closed polygon, shape (n,).

    Rings that cross themselves are repaired, as releases do.

    Examples
    --------
    >>> true_polygon_counts(np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 0.5]]), np.array([shapely.box(0, 0, 2, 2)]))
    array([2])
    """
    ordered = points[np.argsort(points[:, 0])]
    valid = shapely.make_valid(polygons)
    shapely.prepare(valid)
    west, south, east, north = shapely.bounds(valid).T
    first = np.searchsorted(ordered[:, 0], west, side="left")
    stop = np.searchsorted(ordered[:, 0], east, side="right")
    counts = np.empty(len(valid), np.int64)
    for index, polygon in enumerate(valid):
        strip = ordered[first[index] : stop[index]]
        near = strip[(strip[:, 1] >= south[index]) & (strip[:, 1] <= north[index])]
        counts[index] = np.count_nonzero(shapely.intersects_xy(polygon, near))
    return counts


class NotAskedError(Exception):
    """A workload that a data set cannot be asked; the message says why."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Questions:
    """Regions and their true counts."""

    regions: Shapes
    true_counts: NDArray[np.int64]

    def estimates(self, synopsis: Synopsis) -> Floats:
        """What a release answers, shape (n,)."""
        count = synopsis.count if self.regions.ndim == 2 else synopsis.count_polygons
        return np.asarray(count(self.regions))


ShapeMaker = Callable[[Dataset, Floats, np.random.Generator], Shapes]  # of a data set and its true points


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A kind of question.

    Parameters
    ----------
    name : str
        What tables call it.
    regions : function of a data set, its true points and a generator
        Rectangles, shape (n, 4), or polygons, shape (n,); or `NotAskedError`.
    """

    name: str
    regions: ShapeMaker

    def questions(self, dataset: Dataset, true_points: Floats, *, seed: int) -> Questions:
        """Regions and true counts, the same for every method."""
        regions = self.regions(dataset, true_points, np.random.default_rng(seed))
        count = true_counts if regions.ndim == 2 else true_polygon_counts
        return Questions(regions=regions, true_counts=count(true_points, regions))


def uniform_rectangles(dataset: Dataset, _: Floats, rng: np.random.Generator) -> Floats:
    """The paper's rectangles, all six sizes."""
    return workload(dataset.domain, dataset.largest_query, seed=int(rng.integers(2**32))).reshape(-1, 4)


def hot_spots(smallest: float, largest: float) -> ShapeMaker:
    """Squares around random data points, by their share of the domain's sides."""

    def regions(dataset: Dataset, true_points: Floats, rng: np.random.Generator) -> Floats:
        shares = rng.uniform(smallest, largest, (QUERIES_EACH, 1))
        return _around(rng.choice(true_points, QUERIES_EACH), shares * _extent(dataset.domain), dataset.domain)

    return regions


def empty_squares(dataset: Dataset, true_points: Floats, rng: np.random.Generator) -> Floats:
    """Squares without a point, anywhere in the domain."""
    domain = dataset.domain
    size = rng.uniform(*EMPTY_SHARES, (EMPTY_CANDIDATES, 1)) * _extent(domain)
    low = (domain.west, domain.south) + rng.random((EMPTY_CANDIDATES, 2)) * (_extent(domain) - size)
    rects = np.hstack([low, low + size])
    empty = rects[true_counts(true_points, rects) == 0]
    _require(len(empty), "empty squares were found")
    return np.asarray(empty[:QUERIES_EACH])


def ground_squares(kilometres: float) -> ShapeMaker:
    """Squares around random data points, all of one size on the ground.

    A degree of longitude shrinks with the cosine of the latitude.
    """

    def regions(dataset: Dataset, true_points: Floats, rng: np.random.Generator) -> Floats:
        centres = rng.choice(true_points, QUERIES_EACH)
        height = np.full(QUERIES_EACH, kilometres / KM_PER_DEGREE)
        width = height / np.maximum(LEAST_COSINE, np.cos(np.radians(centres[:, 1])))
        return _around(centres, np.column_stack([width, height]), dataset.domain)

    return regions


def irregular_polygons(dataset: Dataset, _: Floats, rng: np.random.Generator) -> Shapes:
    """Made-up polygons with many corners at uneven distances, anywhere in the domain."""
    return np.array([_star(dataset.domain, rng) for _ in range(QUERIES_EACH)])


def county_outlines(dataset: Dataset, _: Floats, __: np.random.Generator) -> Shapes:
    """Every county of the United States that lies in the domain."""
    path = data_folder() / COUNTIES
    if not path.is_file():
        msg = f"{COUNTIES} is not in the data folder"
        raise NotAskedError(msg)
    outlines = _read_counties(path)
    west, south, east, north = shapely.bounds(outlines).T
    domain = dataset.domain
    inside = (west >= domain.west) & (south >= domain.south) & (east <= domain.east) & (north <= domain.north)
    _require(int(inside.sum()), "counties lie in the domain")
    return np.asarray(outlines[inside])


def _extent(domain: Domain) -> Floats:
    return np.array([domain.width, domain.height])


def _around(centres: Floats, size: Floats, domain: Domain) -> Floats:
    """Rectangles about centres, cut off at the domain's edge."""
    west, south, east, north = domain.bounds
    return np.clip(np.hstack([centres - size / 2, centres + size / 2]), (west, south) * 2, (east, north) * 2)


def _star(domain: Domain, rng: np.random.Generator) -> shapely.Polygon:
    """A polygon all of whose edges are seen from its centre, so that none cross."""
    corners = int(rng.integers(*POLYGON_CORNERS, endpoint=True))
    angles = 2 * math.pi * (np.arange(corners) + rng.uniform(0, 0.8, corners)) / corners
    reach = math.exp(rng.uniform(*np.log(POLYGON_SHARES))) * _extent(domain)
    centre = (domain.west, domain.south) + reach + rng.random(2) * (_extent(domain) - 2 * reach)
    distances = rng.uniform(LEAST_REACH, 1, corners)
    return shapely.Polygon(centre + (distances * np.array([np.cos(angles), np.sin(angles)])).T * reach)


@lru_cache(maxsize=1)
def _read_counties(path: Path) -> Shapes:
    return np.asarray(shapely.get_parts(shapely.from_geojson(path.read_text(encoding="utf-8"))))


def _require(found: int, what: str) -> None:
    if found < FEWEST_QUERIES:
        msg = f"fewer than {FEWEST_QUERIES} {what}"
        raise NotAskedError(msg)


_HOT_SHARES = {"0.25": 0.0025, "0.5": 0.005, "1": 0.01, "2": 0.02}  # by their percentage
SNH_SHARES = (0.002, 0.00275)  # "0.2375±0.0375 % of query space" in the sample output of SNH, Zeighami et al. 2021
SNH_HOT_SPOTS = "hot spots, 0.2 to 0.275 %"
_ALL = (
    Workload(name="uniform rectangles", regions=uniform_rectangles),
    *(Workload(name=f"hot spots, {text} %", regions=hot_spots(share, share)) for text, share in _HOT_SHARES.items()),
    Workload(name=SNH_HOT_SPOTS, regions=hot_spots(*SNH_SHARES)),
    Workload(name="empty squares", regions=empty_squares),
    Workload(name="counties", regions=county_outlines),
    Workload(name="irregular polygons", regions=irregular_polygons),
    Workload(name="squares of 5 km", regions=ground_squares(5)),
)
WORKLOADS: Mapping[str, Workload] = MappingProxyType({each.name: each for each in _ALL})
