"""Given areas of any shape, such as districts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hushgrid.arrays import Floats, Indices
from hushgrid.errors import ArgumentError
from hushgrid.geometry.branches import Branches
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.nesting import AreaLevel, branches_of, check_levels
from hushgrid.geometry.partition import Layout, same_structure
from hushgrid.text import is_shown

AREA_LIMIT = 2**16
VERTEX_LIMIT = 2**19  # of all areas together
LONGEST_NAME = 200  # characters
SHORTEST_RING = 4  # vertices, the last of which is the first again


@dataclass(frozen=True, kw_only=True, eq=False)
class AreaPartition:
    """Areas inside a domain, in the order given.

    Their interiors do not overlap, and what lies in none of them is not counted.

    Borders belong to areas: a point on the border of several lies in the first of them. Arrays are nested as in
    GeoArrow: an area is a run of polygons, a polygon one of rings, the outer one first, a ring one of vertices.
    Outer rings run counterclockwise, holes clockwise. Whether rings cross and areas overlap takes more geometry to
    tell, and is checked by whoever makes one (`hushgrid.answering.areas`).

    Parameters
    ----------
    domain : Domain
    names : tuple of str
        What each area is called; no two alike.
    vertices : array, shape (vertices, 2)
        East and north.
    ring_starts, polygon_starts, area_starts : arrays of int
        First vertex of every ring, first ring of every polygon, first polygon of every area, and each time the end.
    level : str
        What one of the areas is.
    levels : tuple of AreaLevel
        Coarser areas that they make up, the coarsest level first.
    places : array of int, shape (areas,), optional
        Where each area came in the file, if its levels put it elsewhere.

    Examples
    --------
    >>> square = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
    >>> plots = AreaPartition(
    ...     domain=Domain(west=0, south=0, east=9, north=9),
    ...     names=("A",),
    ...     vertices=square,
    ...     ring_starts=[0, 5],
    ...     polygon_starts=[0, 1],
    ...     area_starts=[0, 1],
    ... )
    >>> plots.bounds(), plots.sizes
    (array([[0., 0., 1., 1.]]), array([1.]))
    """

    kind: ClassVar[str] = "areas"
    tiles: ClassVar[bool] = False
    layout_types: ClassVar[Mapping[str, type[np.generic]]] = {
        **dict.fromkeys(("x", "y"), np.float64),
        **dict.fromkeys(("ring", "polygon", "area"), np.int64),
    }
    domain: Domain
    names: tuple[str, ...]
    vertices: Floats
    ring_starts: Indices
    polygon_starts: Indices
    area_starts: Indices
    level: str = "area"
    levels: tuple[AreaLevel, ...] = ()
    places: Indices = field(default_factory=lambda: np.empty(0, np.int64))

    def __post_init__(self) -> None:
        if len(self.places) == 0:
            object.__setattr__(self, "places", np.arange(len(self.area_starts) - 1))
        starts = ("ring_starts", "polygon_starts", "area_starts")
        for name, kind in {"vertices": np.float64, **dict.fromkeys((*starts, "places"), np.int64)}.items():
            array = np.array(getattr(self, name), dtype=kind)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        _check_nesting(self)
        _check_names(self)
        _check_vertices(self)
        check_levels(self.levels, self.level, self.cells)
        if not np.array_equal(np.sort(self.places), np.arange(self.cells)):
            msg = "every area needs a place in the file, and no two the same."
            raise ArgumentError(msg)

    __eq__ = same_structure
    __hash__ = None  # type: ignore[assignment]  # compares by the contents of arrays

    @property
    def arrays(self) -> tuple[Floats, Indices, Indices, Indices]:
        """Vertices, and the starts of rings, polygons and areas."""
        return self.vertices, self.ring_starts, self.polygon_starts, self.area_starts

    @property
    def cells(self) -> int:
        """Number of areas."""
        return len(self.area_starts) - 1

    @property
    def shape(self) -> dict[str, Any]:
        """Vertices and areas, their names and levels."""
        flat = {"vertices": len(self.vertices), "cells": self.cells, "names": list(self.names)}
        if not self.levels:
            return flat
        return {
            **flat,
            "level": self.level,
            "levels": [level.shape for level in self.levels],
            "places": self.places.tolist(),
        }

    @cached_property
    def branches(self) -> Branches:
        """The areas in their levels, as a tree."""
        return branches_of(self.levels, self.cells)

    @property
    def layout(self) -> Layout:
        """Each vertex with its ring, polygon and area."""
        columns = list(self.vertices.T)
        members = np.arange(len(self.vertices))
        for starts in self.arrays[1:]:
            members = np.searchsorted(starts, members, side="right") - 1
            columns.append(members)
        return dict(zip(self.layout_types, columns, strict=True))

    @classmethod
    def from_layout(cls, domain: Domain, shape: Mapping[str, Any], layout: Layout) -> Self:
        """The areas of these names and vertices."""
        numbers = [layout[name] for name in ("ring", "polygon", "area")]
        if any(column[0] != 0 or not np.isin(np.diff(column), (0, 1)).all() for column in numbers):
            msg = "its rings, polygons and areas are not numbered in order."
            raise ArgumentError(msg)
        first_vertices = [np.flatnonzero(np.diff(column, prepend=-1)) for column in numbers]
        ring, polygon, _ = numbers
        areas = cls(
            domain=domain,
            names=shape["names"],
            vertices=np.stack([layout["x"], layout["y"]], axis=1),
            ring_starts=np.append(first_vertices[0], len(ring)),
            polygon_starts=np.append(ring[first_vertices[1]], ring[-1] + 1),
            area_starts=np.append(polygon[first_vertices[2]], polygon[-1] + 1),
            **({"level": shape["level"], "places": shape["places"]} if "levels" in shape else {}),
            levels=tuple(_level(each) for each in shape.get("levels", ())),
        )
        if not all(np.array_equal(areas.layout[name], layout[name]) for name in ("ring", "polygon", "area")):
            msg = "its rings, polygons and areas do not lie one in another."
            raise ArgumentError(msg)
        return areas

    @property
    def details(self) -> dict[str, Any]:
        """Names of areas and levels, and the number of vertices."""
        named = {"areas": list(self.names), "vertices": len(self.vertices)}
        return {**named, "levels": self.level_names} if self.levels else named

    @property
    def level_names(self) -> list[str]:
        """What the levels are called, the coarsest first."""
        return [level.name for level in self.all_levels]

    @property
    def all_levels(self) -> list[AreaLevel]:
        """All levels, the areas themselves last."""
        finest = AreaLevel(name=self.level, names=self.names, starts=np.arange(self.cells + 1))
        return [*self.levels, finest]

    def level_called(self, name: str | None) -> AreaLevel:
        """One of the levels, by default the finest."""
        found = {level.name: level for level in self.all_levels}
        if name is not None and name not in found:
            msg = f"level must be one of {', '.join(found)}; got level={name[:40]!r}."
            raise ArgumentError(msg, instead={"level": get_close_matches(name, found, n=1, cutoff=0)[0]})
        return found[self.level if name is None else name]

    def file_order(self, level: AreaLevel) -> Indices:
        """The areas of a level, in the order of their first parts in the file."""
        return np.argsort(np.minimum.reduceat(self.places, level.starts[:-1]))

    def parents_of(self, level: AreaLevel) -> list[str]:
        """What each area of a level lies in; empty for the coarsest."""
        place = self.level_names.index(level.name)
        if place == 0:
            return [""] * len(level.names)
        above = self.all_levels[place - 1]
        numbers = np.searchsorted(above.starts, level.starts[:-1], side="right") - 1
        return [above.names[number] for number in numbers.tolist()]

    @property
    def words(self) -> str:
        """Its shape in words."""
        words = "1 area that was given" if self.cells == 1 else f"{self.cells:,} areas that were given"
        if are_h3_indexes(self.names):
            words = "1 H3 cell" if self.cells == 1 else f"{self.cells:,} H3 cells"
        above = [f"{len(level.names):,} of level {level.name}" for level in reversed(self.levels)]
        return ", in ".join([words, *above])

    def bounds(self, first: int = 0, stop: int | None = None) -> Floats:
        """Bounds of areas `first` to `stop`, shape (areas, 4)."""
        return self._bounds[first:stop]

    @cached_property
    def _bounds(self) -> Floats:
        lowest = np.minimum.reduceat(self.vertices, self._first_vertices[:-1])
        highest = np.maximum.reduceat(self.vertices, self._first_vertices[:-1])
        return np.hstack([lowest, highest])

    @cached_property
    def segments(self) -> Floats:
        """All edges from x, y to x, y, shape (segments, 4).

        The edges of an area follow one another.
        """
        joined = np.ones(len(self.vertices), bool)
        joined[self.ring_starts[1:] - 1] = False  # no edge leads from one ring to the next
        places = np.flatnonzero(joined)
        return np.hstack([self.vertices[places], self.vertices[places + 1]])

    @cached_property
    def segment_starts(self) -> Indices:
        """First segment of each area, and the end, shape (areas + 1,)."""
        return self._first_vertices - self._first_rings  # a ring has one segment less than vertices

    @cached_property
    def sizes(self) -> Floats:
        """Size of each area in squared units, shape (areas,)."""
        # Each from a corner of its own: far from the origin, products would round away what they differ by.
        corners = np.repeat(np.tile(self._bounds[:, :2], 2), np.diff(self.segment_starts), axis=0)
        left, bottom, right, top = (self.segments - corners).T
        return np.asarray(np.add.reduceat(left * top - right * bottom, self.segment_starts[:-1]) / 2)

    @property
    def _first_rings(self) -> Indices:
        return self.polygon_starts[self.area_starts]

    @property
    def _first_vertices(self) -> Indices:
        return self.ring_starts[self._first_rings]


H3_INDEX = re.compile("8[0-9a-f]{14}")
H3_BASE_CELLS, H3_FINEST = 122, 15


def are_h3_indexes(names: Sequence[str]) -> bool:
    """Whether areas are called by their H3 indexes.

    Examples
    --------
    >>> are_h3_indexes(["882a100d65fffff"]), are_h3_indexes(["882a100d65fffff", "Soho"]), are_h3_indexes([])
    (True, False, False)
    """
    return len(names) > 0 and all(map(_is_h3_index, names))


def _is_h3_index(name: str) -> bool:
    """Whether a text is the index of a cell (https://h3geo.org/docs/core-library/h3Indexing).

    After the mode come the resolution, the base cell, and three bits for each resolution: all ones beyond its own.
    """
    if H3_INDEX.fullmatch(name) is None:
        return False
    bits = int(name, 16)
    beyond = 2 ** (3 * (H3_FINEST - (bits >> 52 & 15))) - 1
    return bits >> 45 & 127 < H3_BASE_CELLS and bits & beyond == beyond


def _level(shape: Mapping[str, Any]) -> AreaLevel:
    starts = np.cumsum([0, *shape["parts"]])
    return AreaLevel(name=shape["name"], names=tuple(shape["names"]), starts=starts)


def _check_nesting(areas: AreaPartition) -> None:
    vertices, *starts = areas.arrays
    sizes = [len(vertices), *(len(edges) - 1 for edges in starts[:2])]
    least = [SHORTEST_RING, 1, 1]
    good = vertices.ndim == 2 and vertices.shape[1:] == (2,)
    for edges, size, fewest in zip(starts, sizes, least, strict=True):
        good = good and len(edges) > 1 and bool(edges[0] == 0 and edges[-1] == size and np.diff(edges).min() >= fewest)
    if not good:
        msg = "areas must be made of polygons, polygons of rings, and rings of at least four vertices."
        raise ArgumentError(msg)
    if areas.cells > AREA_LIMIT or len(vertices) > VERTEX_LIMIT:
        msg = (
            f"{areas.cells:,} areas of {len(vertices):,} vertices are over the limit of {AREA_LIMIT:,} areas or "
            f"{VERTEX_LIMIT:,} vertices. Simplify their outlines, or give fewer areas."
        )
        raise ArgumentError(msg)


def _check_names(areas: AreaPartition) -> None:
    names = areas.names
    if len(names) != areas.cells:
        msg = f"every area needs a name: got {len(names):,} names for {areas.cells:,} areas."
        raise ArgumentError(msg)
    for number, name in enumerate(names):
        if not name.strip() or len(name) > LONGEST_NAME or not is_shown("".join(name.split())):
            msg = f"the name of area {number} must be a text of 1 to {LONGEST_NAME} printable characters, "
            msg += f"got {name[:40]!r}."
            raise ArgumentError(msg)
    if len(set(names)) < len(names):
        twice = next(name for number, name in enumerate(names) if name in names[:number])
        msg = f"two areas are called {twice!r}; names must tell areas apart."
        raise ArgumentError(msg)


def _check_vertices(areas: AreaPartition) -> None:
    vertices, ring_starts = areas.vertices, areas.ring_starts
    if not np.array_equal(vertices[ring_starts[:-1]], vertices[ring_starts[1:] - 1]):
        msg = "the rings of areas must be closed: the last vertex of each is its first."
        raise ArgumentError(msg)
    west, south, east, north = areas.domain.bounds
    inside = ((vertices >= (west, south)) & (vertices <= (east, north))).all(axis=1)  # false for NaN too
    if not inside.all():
        number = int(np.searchsorted(areas._first_vertices, int(np.argmin(inside)), side="right")) - 1  # noqa: SLF001
        msg = f"area {areas.names[number]!r} reaches outside the domain. Give a domain that holds all areas."
        raise ArgumentError(msg, instead=domain_with(vertices, areas.domain))


def domain_with(vertices: NDArray[np.float64], domain: Domain) -> dict[str, object]:
    """Smallest domain that holds a domain and all vertices, if any, as an argument."""
    corners = np.vstack([vertices, domain.bounds[:2], domain.bounds[2:]])
    (west, south), (east, north) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
    try:
        return {"domain": Domain(west=west, south=south, east=east, north=north, crs=domain.crs)}
    except ArgumentError:  # beyond the poles, or NaN
        return {}
