"""Areas as geometries: made, checked and laid over queries."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushgrid.answering.cover import Cover
from hushgrid.answering.outlines import (
    POLYGON,
    Geometries,
    geometry_array,
    import_shapely,
    is_intricate,
    valid_polygons,
)
from hushgrid.arrays import Floats, Indices
from hushgrid.errors import ArgumentError
from hushgrid.geometry.areas import AreaPartition, domain_with
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.nesting import AreaLevel, Nesting

PAIRS_AT_ONCE = 2**14  # whose common parts are in memory together
WHOLE = 1 - 1e-12  # a larger share of an area is all of it, up to rounding
SLIVER = 1e-3  # of the smaller area: two may share this much, because outlines are simplified; the first has it
LITTLE_ENDIAN = 1


def area_partition(
    geometries: Any,
    names: Sequence[str],
    domain: Domain,
    *,
    level: str = "area",
    coarser: Mapping[str, Sequence[str]] = MappingProxyType({}),
    keys: Sequence[str] = (),
) -> AreaPartition:
    """Make a partition of given polygons.

    Parameters
    ----------
    geometries : shapely geometry, sequence or array of them, GeoSeries or GeoDataFrame
        Polygons and multipolygons, as for `Synopsis.count_polygons`: a frame that carries another reference system
        than the domain's is transformed, rings that cross themselves are repaired. Those without an outline are left
        out. All others must have an extent and lie in the domain, and no two may overlap.
    names : sequence of str
        One for each.
    level : str
        What one of them is.
    coarser : mapping of str to sequence of str
        What each lies in, by level, the coarsest first.
    keys : sequence of str
        What tells areas of one name apart that lie in the same.

    Examples
    --------
    >>> from shapely import box
    >>> domain = Domain(west=0, south=0, east=9, north=9)
    >>> area_partition([box(0, 0, 1, 1), box(1, 0, 3, 1)], ["A", "B"], domain).sizes
    array([1., 2.])
    """
    shapely = import_shapely()
    kept = np.flatnonzero(has_outline(geometry_array(geometries)))
    keys = keys or [str(number) for number in range(len(names))]
    names, keys, *above = ([each[number] for number in kept.tolist()] for each in (names, keys, *coarser.values()))
    nesting = Nesting.of(names, dict(zip(coarser, above, strict=True)), keys)
    names, features = nesting.names, kept[nesting.order]
    shapes = multipolygons(valid_polygons(geometries, domain))[features]
    _check_given(names, shapes, features, domain)
    # GEOS normalizes outer rings to clockwise, so all are reversed.
    _, vertices, starts = shapely.to_ragged_array(shapely.reverse(shapely.normalize(shapes)))
    made = AreaPartition(
        domain=domain,
        names=names,
        vertices=vertices,
        **dict(zip(("ring_starts", "polygon_starts", "area_starts"), starts, strict=True)),
        level=level,
        levels=nesting.levels,
        places=nesting.order,
    )
    check_areas(made, features)
    return made


def _check_given(names: Sequence[str], shapes: Geometries, features: Indices, domain: Domain) -> None:
    """Refuse areas of one name, without extent or outside the domain.

    Messages have the numbers of features.
    """
    shapely = import_shapely()
    first: dict[str, int] = {}
    for name, feature in zip(names, features.tolist(), strict=True):
        if (other := first.setdefault(name, feature)) != feature:
            msg = f"features {other} and {feature} are both called {name!r}; names must tell areas apart. Name them by "
            msg += "another property, or give levels, so that a name says what it lies in."
            raise ArgumentError(msg)
    for number in np.flatnonzero(~(shapely.area(shapes) > 0)).tolist():
        msg = f"area {names[number]!r} (feature {features[number]}) has no extent; leave it out, or give its polygon."
        raise ArgumentError(msg)
    west, south, east, north = shapely.bounds(shapes).T
    inside = (west >= domain.west) & (south >= domain.south) & (east <= domain.east) & (north <= domain.north)
    for number in np.flatnonzero(~inside).tolist():
        msg = f"area {names[number]!r} (feature {features[number]}) reaches outside the domain. Give a domain that "
        msg += "holds all areas, or leave the area out."
        raise ArgumentError(msg, instead=domain_with(shapely.get_coordinates(shapes), domain))


def has_outline(shapes: Geometries) -> NDArray[np.bool_]:
    """Which geometries are neither missing nor empty."""
    shapely = import_shapely()
    return np.asarray(~(shapely.is_missing(shapes) | shapely.is_empty(shapes)))


def check_areas(areas: AreaPartition, features: Indices | None = None) -> None:
    """Refuse areas that are not valid or overlap.

    Rings must not cross. Two areas may share as much as simple outlines explain; a point there lies in the first.
    `features` are their numbers in a file, in messages.
    """
    shapely = import_shapely()
    features = areas.places if features is None else features
    if is_intricate(areas.segments):
        msg = "the outlines of the areas wind around each other too often to be compared; simplify them."
        raise ArgumentError(msg)
    shapes = AreaShapes(areas)
    good = shapely.is_valid(shapes.shapes) & (areas.sizes > 0)
    if not good.all():
        number = int(np.argmin(good))
        msg = f"area {areas.names[number]!r} (feature {features[number]}) is not a valid polygon: its rings cross or "
        msg += "are inside out."
        raise ArgumentError(msg)
    one, other = shapes.meetings(shapes.shapes)
    one, other = one[one < other], other[one < other]
    overlap = ~shapely.touches(shapes.shapes[one], shapes.shapes[other])  # most neighbours share a border and no more
    one, other = one[overlap], other[overlap]
    shared = common_sizes(shapes.shapes[one], shapes.shapes[other])
    for pair in np.flatnonzero(shared > SLIVER * np.minimum(areas.sizes[one], areas.sizes[other])):
        some, others = (f"{areas.names[each]!r} (feature {features[each]})" for each in (one[pair], other[pair]))
        msg = f"areas {some} and {others} overlap, and a point is counted in one area only. Cut one of them, or "
        msg += "publish on a grid and ask for both afterwards."
        raise ArgumentError(msg)


class AreaShapes:
    """Given areas, each a node of its own.

    It offers what `BoxTree` does to code that sums over nodes.
    """

    def __init__(self, areas: AreaPartition) -> None:
        self._areas = areas
        self.nodes = areas.cells
        self.leaves: Indices = np.arange(areas.cells)

    @staticmethod
    def sums(leaf_values: Floats) -> Floats:
        """Sum over the leaves of every node.

        Every node is one leaf, so these are the values themselves.
        """
        return leaf_values

    @cached_property
    def shapes(self) -> Geometries:
        """The areas as shapely has them."""
        shapely = import_shapely()
        vertices, *starts = (np.array(array) for array in self._areas.arrays)  # shapely needs them writable
        shapes: Geometries = shapely.from_ragged_array(shapely.GeometryType.MULTIPOLYGON, vertices, tuple(starts))
        return shapes

    def of_level(self, level: AreaLevel) -> Geometries:
        """The areas of a level, each the union of its parts."""
        unite = import_shapely().union_all
        parts = pairwise(level.starts.tolist())
        united = [unite(self.shapes[first:stop]) for first, stop in parts]
        return multipolygons(np.array(united, dtype=object))

    @property
    def area_shares(self) -> Floats:
        """Every area's share of the domain, shape (areas,)."""
        domain = self._areas.domain
        return self._areas.sizes / domain.width / domain.height

    def wkb(self, first: int = 0, stop: int | None = None) -> pa.BinaryArray:
        """The areas `first` to `stop` in well-known binary."""
        texts = import_shapely().to_wkb(self.shapes[first:stop], output_dimension=2, byte_order=LITTLE_ENDIAN)
        return pa.array(texts.tolist(), pa.binary())

    def joined(self, starts: Indices) -> tuple[Floats, Indices, Indices, Indices]:
        """Runs of areas without the borders inside them, nested as `AreaPartition.arrays`.

        The runs begin at `starts`, whose last is the end.
        """
        shapely = import_shapely()
        unions = [shapely.union_all(self.shapes[first:stop]) for first, stop in pairwise(starts.tolist())]
        _, vertices, edges = shapely.to_ragged_array(multipolygons(np.array(unions, dtype=object)))
        return vertices, *edges

    def cover(self, geometries: Any) -> Cover:
        """What polygons cover of every area.

        Polygons are given as for `Synopsis.count_polygons`.
        """
        asked = multipolygons(valid_polygons(geometries, self._areas.domain))
        query, area = self.meetings(asked)
        shapely = import_shapely()
        shapely.prepare(asked)  # the test for areas inside is then far faster than cutting them
        cut = ~shapely.contains_properly(asked[query], self.shapes[area])
        shares = np.ones(len(query))
        shares[cut] = common_sizes(asked[query[cut]], self.shapes[area[cut]]) / self._areas.sizes[area[cut]]
        shares[shares > WHOLE] = 1.0
        order = np.lexsort((area, query))
        order = order[shares[order] > 0]
        query, area, shares = query[order], area[order], shares[order]
        starts = np.searchsorted(query, np.arange(len(asked) + 1))
        return Cover(starts=starts, runs=np.stack([area, area + 1], axis=1), area_shares=shares, mass_shares=shares)

    def meetings(self, asked: Geometries) -> tuple[Indices, Indices]:
        """Pairs of geometries and areas that meet.

        A common border is enough. Both arrays have shape (pairs,).
        """
        query, area = self._tree.query(asked, predicate="intersects")
        return query, area

    @cached_property
    def _tree(self) -> Any:
        return import_shapely().STRtree(self.shapes)


def common_sizes(some: Geometries, others: Geometries) -> Floats:
    """Size of each pair's common part, shape (pairs,)."""
    shapely = import_shapely()
    sizes = np.empty(len(some))
    for first in range(0, len(some), PAIRS_AT_ONCE):
        part = slice(first, first + PAIRS_AT_ONCE)
        sizes[part] = shapely.area(shapely.intersection(some[part], others[part]))
    return sizes


def multipolygons(valid: Geometries) -> Geometries:
    """Valid geometries as multipolygons without heights.

    A missing one becomes empty. Lines and points that a repair left are dropped.
    """
    shapely = import_shapely()
    parts, number = shapely.get_parts(shapely.force_2d(valid), return_index=True)
    polygons, part = shapely.get_parts(parts, return_index=True)  # a repair may leave a collection of several
    is_polygon = shapely.get_type_id(polygons) == POLYGON
    out = np.full(len(valid), shapely.MultiPolygon(), dtype=object)
    chosen = number[part][is_polygon]
    shapely.multipolygons(polygons[is_polygon], indices=chosen, out=out)
    return out
