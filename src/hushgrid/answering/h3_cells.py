"""H3 cells of a domain: which there are, and their outlines.

Reference: H3, a hexagonal grid on an icosahedron (https://h3geo.org). Cells of one resolution cover the Earth without
gaps; their borders are arcs of great circles.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.answering.outlines import POLYGON, Geometries, import_shapely
from hushgrid.arrays import Floats, Indices
from hushgrid.errors import ArgumentError, MissingExtraError
from hushgrid.geometry.areas import AREA_LIMIT, VERTEX_LIMIT
from hushgrid.geometry.domain import Domain

UNSURE = 2  # at most this many times the expected cells, because they differ in size
SAME = 1e-10  # degrees, or ten micrometres: coordinates that differ by less are the same
BEND = 1e-4  # of an edge's length: how far a straight piece may lie from the arc that it stands for
MORE_BEND = 4  # times that, where outlines would have too many vertices
MOST_PIECES = 64  # of an edge
TURN = 360.0


def import_h3() -> Any:
    """Import h3, or say how to get it."""
    try:
        import h3
    except ImportError as error:
        msg = "H3 cells need h3: pip install 'hushgrid[h3]'."
        raise MissingExtraError(msg) from error
    return h3


def h3_cells(domain: Domain, resolution: int) -> tuple[list[str], Geometries]:
    """Cells that meet a domain, by index, and their parts inside it.

    Neighbours have the same vertices on their common border, bit for bit, so that they neither overlap nor leave a gap.
    Edges are straight in longitude and latitude; an arc is drawn by as many as it takes.

    Examples
    --------
    >>> cells, shapes = h3_cells(Domain(west=5, south=52, east=6, north=53), 3)
    >>> len(cells), round(sum(shape.area for shape in shapes), 9)
    (3, 1.0)
    """
    check_in_degrees(domain)
    expected = expected_cells(domain, resolution)
    if expected > UNSURE * AREA_LIMIT:
        raise _too_many(domain, resolution, expected)
    near = _cells_near(domain, resolution)
    shapes = _Rings.of(near, domain).drawn(domain).within(domain, len(near))
    kept = np.flatnonzero(import_shapely().area(shapes) > 0).tolist()
    if len(kept) > AREA_LIMIT:
        raise _too_many(domain, resolution, len(kept))
    return [near[number] for number in kept], shapes[kept]


def check_in_degrees(domain: Domain) -> None:
    """Refuse a domain in metres."""
    if not domain.is_geographic:
        msg = f"H3 cells need a domain in longitude and latitude, got one in {domain.crs}. Give its bounds in degrees; "
        msg += "the points may be in another system."
        raise ArgumentError(msg)


def expected_cells(domain: Domain, resolution: int) -> int:
    """About how many cells of a resolution meet a domain.

    As many as fill its area and line its border, if all are as large as the one in the middle.

    Examples
    --------
    >>> expected_cells(Domain(west=-74.26, south=40.48, east=-73.70, north=40.92), 8)
    3343
    """
    h3 = import_h3()
    west, south, east, north = map(math.radians, domain.bounds)
    middle = h3.latlng_to_cell((domain.south + domain.north) / 2, (domain.west + domain.east) / 2, resolution)
    size = float(h3.cell_area(middle, unit="rads^2"))
    area = (east - west) * (math.sin(north) - math.sin(south))
    border = 2 * (north - south) + (east - west) * (math.cos(north) + math.cos(south))
    return min(math.ceil(area / size + border / math.sqrt(size)), int(h3.get_num_cells(resolution)))


def _too_many(domain: Domain, resolution: int, cells: int) -> ArgumentError:
    fits = next(coarser for coarser in reversed(range(resolution)) if expected_cells(domain, coarser) <= AREA_LIMIT)
    msg = f"h3:{resolution} has about {cells:,} cells in this domain, over the limit of {AREA_LIMIT:,}. Take "
    msg += f"h3:{fits}, which has about {expected_cells(domain, fits):,}, or a smaller domain."
    return ArgumentError(msg)


def _cells_near(domain: Domain, resolution: int) -> list[str]:
    """Cells that may meet a domain, in the order of their indexes.

    From the coarsest resolution down, a cell is left out where none of its descendants can meet the domain.
    """
    h3 = import_h3()
    cells = sorted(h3.get_res0_cells())
    for finer in range(resolution + 1):
        if finer > 0:
            cells = [child for cell in cells for child in h3.cell_to_children(cell, finer)]
        centres = np.radians([h3.cell_to_latlng(cell) for cell in cells])
        # Descendants lie within 1.2 average edges of the centre. A square of the size of a cell has a side of 1.6.
        radius = math.sqrt(4 * math.pi / h3.get_num_cells(finer))
        cells = [cells[number] for number in np.flatnonzero(_may_meet(centres, radius, domain)).tolist()]
    return sorted(cells)


def _may_meet(centres: Floats, radius: float, domain: Domain) -> NDArray[np.bool_]:
    """Which circles on the sphere may meet a domain.

    Centres are latitudes and longitudes, all in radians.
    """
    west, south, east, north = map(math.radians, domain.bounds)
    latitudes, longitudes = centres.T
    over_pole = np.abs(latitudes) + radius >= math.pi / 2
    width = np.where(over_pole, math.pi, np.arcsin(np.minimum(math.sin(radius) / np.cos(latitudes), 1)))[:, None]
    turned = longitudes[:, None] + 2 * math.pi * np.array([-1, 0, 1])
    beside = ((turned + width >= west) & (turned - width <= east)).any(axis=1)
    return np.asarray(beside & (latitudes + radius >= south) & (latitudes - radius <= north))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rings:
    """Outlines of cells in degrees, as rings of vertices.

    Parameters
    ----------
    places : array, shape (vertices, 2)
        East and north. The last vertex of a ring is not its first again.
    starts : array of int, shape (rings + 1,)
        First vertex of each ring, and the end.
    cells : array of int, shape (rings,)
        The cell that each ring is of.
    """

    places: Floats
    starts: Indices
    cells: Indices

    @classmethod
    def of(cls, cells: list[str], domain: Domain) -> Self:
        """Rings of cells, one for each turn that is near a domain."""
        h3 = import_h3()
        poles = {h3.latlng_to_cell(pole, 0, h3.get_resolution(cells[0])): pole for pole in (-90.0, 90.0)}
        rings = [_outline(h3.cell_to_boundary(cell), poles.get(cell)) for cell in cells]
        places, sizes = np.array([place for ring in rings for place in ring])[:, ::-1], np.array([*map(len, rings)])
        first, has_pole = np.cumsum(sizes) - sizes, np.array([cell in poles for cell in cells])
        jumps = np.round((places[:, 0] - np.repeat(places[first, 0], sizes)) / TURN)  # at the 180th meridian
        places[:, 0] -= TURN * np.where(np.repeat(has_pole, sizes), 0, jumps)
        west, east = np.minimum.reduceat(places[:, 0], first), np.maximum.reduceat(places[:, 0], first)
        found, numbers = [], []
        for turn in (-TURN, 0.0, TURN):
            near = (west + turn <= domain.east) & (east + turn >= domain.west) & ~(has_pole & (turn != 0))
            found.append(places[np.repeat(near, sizes)] + (turn, 0.0))
            numbers.append(np.flatnonzero(near))
        number, places = np.concatenate(numbers), np.apply_along_axis(_merged, 0, np.concatenate(found))
        places = _on_borders(places, domain)
        return cls(places=places, starts=np.concatenate([[0], np.cumsum(sizes[number])]), cells=number)

    @cached_property
    def edges(self) -> tuple[Floats, Indices, NDArray[np.bool_]]:
        """All edges, each once, and the one that every vertex begins.

        An edge goes from a vertex to the next. The last array says which vertices go back along it.
        """
        following = np.arange(1, len(self.places) + 1)
        following[self.starts[1:] - 1] = self.starts[:-1]
        _, first, here = np.unique(self.places @ (1, 1j), return_index=True, return_inverse=True)
        there, corners = here[following], self.places[first]
        numbers, edge = np.unique(np.minimum(here, there) * len(corners) + np.maximum(here, there), return_inverse=True)
        low, high = np.divmod(numbers, len(corners))
        return np.hstack([corners[low], corners[high]]), edge, there < here

    def pieces(self, bend: float) -> Indices:
        """Number of straight pieces that draw each edge.

        As few as it takes to stay that near to its arc, or nearest within the limit of vertices.
        """
        edges, edge, _ = self.edges
        while (pieces := _pieces(edges, bend))[edge].sum() > VERTEX_LIMIT - AREA_LIMIT and bend < 1:
            bend *= MORE_BEND
        return pieces

    def drawn(self, domain: Domain) -> Self:
        """The same cells with vertices along arcs and on the borders of a domain."""
        edges, edge, back = self.edges
        of_edge, share, added = _added_vertices(edges, self.pieces(BEND), domain)
        first, stop = (np.searchsorted(of_edge, edge, side=side) for side in ("left", "right"))
        owner = np.repeat(np.arange(len(edge)), stop - first)
        number = np.arange(len(owner)) - (np.cumsum(stop - first) - stop)[owner]
        along = np.where(back[owner], 1 - share[number], share[number])
        order = np.lexsort((np.append(np.zeros(len(edge)), along), np.append(np.arange(len(edge)), owner)))
        more = np.concatenate([[0], np.cumsum(stop - first)])
        places = np.concatenate([self.places, added[number]])[order]
        return replace(self, places=places, starts=self.starts + more[self.starts])

    def within(self, domain: Domain, size: int) -> Geometries:
        """What lies in a domain of each cell, shape (size,)."""
        shapely = import_shapely()
        ring = np.repeat(np.arange(len(self.cells)), np.diff(self.starts))
        shapes, frame = shapely.polygons(shapely.linearrings(self.places, indices=ring)), shapely.box(*domain.bounds)
        cut = ~shapely.covers(frame, shapes)
        shapes[cut] = shapely.intersection(shapes[cut], frame)
        parts, owner = shapely.get_parts(shapes, return_index=True)
        is_polygon = (shapely.get_type_id(parts) == POLYGON) & ~shapely.is_empty(parts)  # a common border is not a part
        owner = self.cells[owner[is_polygon]]
        order = np.argsort(owner, kind="stable")
        out = np.full(size, shapely.MultiPolygon(), dtype=object)
        shapely.multipolygons(parts[is_polygon][order], indices=owner[order], out=out)
        return out


Outline = Sequence[tuple[float, float]]  # latitudes and longitudes, as h3 gives them


def _outline(boundary: Outline, pole: float | None) -> Outline:
    """The outline of a cell.

    Around a pole it is a strip of three turns that ends there.
    """
    if pole is None:
        return boundary
    north, east = np.array(boundary).T
    east = np.unwrap(east, period=TURN)
    turn = TURN if pole > 0 else -TURN  # counterclockwise, as seen from above
    strip = [(y, x + each * turn) for each in (-1, 0, 1) for x, y in zip(east, north, strict=True)]
    return [*strip, (north[0], east[0] + 2 * turn), (pole, east[0] + 2 * turn), (pole, east[0] - turn)]


def _merged(values: Floats) -> Floats:
    """Values, made equal where they differ by rounding alone.

    Examples
    --------
    >>> _merged(np.array([0.3, 1.0, 0.1 + 0.2]))
    array([0.3, 1. , 0.3])
    """
    order = np.argsort(values)
    is_new = np.diff(values[order], prepend=-np.inf) > SAME
    merged = np.empty_like(values)
    merged[order] = values[order][is_new][np.cumsum(is_new) - 1]
    return merged


def _on_borders(places: Floats, domain: Domain) -> Floats:
    """Places, put on the borders of a domain where they miss them by rounding."""
    for line in (domain.bounds[:2], domain.bounds[2:]):
        places = np.where(np.abs(places - line) <= SAME, line, places)
    return places


def _added_vertices(edges: Floats, pieces: Indices, domain: Domain) -> tuple[Indices, Floats, Floats]:
    """Vertices to be put on edges: edge, share along it, and place.

    They come in the order of edges, and along each of them.

    Parameters
    ----------
    edges : array, shape (edges, 4)
        From east, north to east, north.
    pieces : array of int, shape (edges,)
        How many straight ones draw each.
    """
    edge = np.repeat(np.arange(len(edges)), pieces + 1)
    share = (np.arange(len(edge)) - np.repeat(np.cumsum(pieces + 1) - pieces - 1, pieces + 1)) / pieces[edge]
    places = np.where((share == 0)[:, None], edges[edge, :2], edges[edge, 2:])
    inner = (share > 0) & (share < 1)
    places[inner] = _on_borders(_on_arcs(edges[edge[inner]], share[inner]), domain)
    found = [(edge[inner], share[inner], places[inner])]
    west, south, east, north = domain.bounds
    for axis, line in ((0, west), (0, east), (1, south), (1, north)):
        before = np.flatnonzero((edge[1:] == edge[:-1]) & ((places[:-1, axis] - line) * (places[1:, axis] - line) < 0))
        start, end = places[before], places[before + 1]
        along = (line - start[:, axis]) / (end[:, axis] - start[:, axis])
        crossing = start + along[:, None] * (end - start)
        crossing[:, axis] = line
        found.append((edge[before], share[before] + along * (share[before + 1] - share[before]), crossing))
    edge, share, places = map(np.concatenate, zip(*found, strict=True))
    order = np.lexsort((share, edge))
    return edge[order], share[order], _on_borders(places[order], domain)


def _pieces(edges: Floats, bend: float) -> Indices:
    """Number of straight pieces for each edge: 1, 2, 4 and so on."""
    pieces, count = np.ones(len(edges), np.int64), 1
    bends = (np.abs(edges[:, [1, 3]]) < 90).all(axis=1) & (edges[:, :2] != edges[:, 2:]).any(axis=1)
    asked = np.flatnonzero(bends)  # not what ends at a pole, which is a meridian or a point, nor what has no length
    while len(asked) and count < MOST_PIECES:
        share = np.linspace(0, 1, 2 * count + 1)
        places = _on_arcs(edges[asked, None], share)
        places[..., 0] *= np.cos(np.radians(edges[asked][:, [1, 3]].mean(axis=1)))[:, None]  # as long as it is on Earth
        ends, middles = places[:, ::2], places[:, 1::2]
        chords, off = np.diff(ends, axis=1), middles - (ends[:, :-1] + ends[:, 1:]) / 2
        sizes = np.linalg.norm(chords, axis=2)
        away = np.abs(chords[..., 0] * off[..., 1] - chords[..., 1] * off[..., 0]) / sizes
        asked = asked[away.max(axis=1) > bend * sizes.sum(axis=1)]
        count *= 2
        pieces[asked] = count
    return pieces


def _on_arcs(edges: Floats, share: Floats) -> Floats:
    """Places on the great circles through the ends of edges, shape (..., 2)."""
    start, end = edges[..., :2], edges[..., 2:]
    along = share[..., None]
    x, y, z = np.moveaxis((1 - along) * _directions(start) + along * _directions(end), -1, 0)
    east, north = np.degrees(np.arctan2(y, x)), np.degrees(np.arctan2(z, np.hypot(x, y)))
    near = start[..., 0] + share * (end[..., 0] - start[..., 0])
    return np.stack([east + TURN * np.round((near - east) / TURN), north], axis=-1)


def _directions(places: Floats) -> Floats:
    """Unit vectors from the middle of the Earth, shape (..., 3)."""
    east, north = np.moveaxis(np.radians(places), -1, 0)
    return np.stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)], axis=-1)
