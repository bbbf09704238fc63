"""Areas: counts on given areas, such as districts.

Reference: a histogram on a public partition (Dwork, McSherry, Nissim, Smith: "Calibrating Noise to Sensitivity in
Private Data Analysis", TCC 2006).
"""

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hushgrid.answering.areas import area_partition, has_outline
from hushgrid.answering.h3_cells import check_in_degrees, h3_cells, import_h3
from hushgrid.answering.outlines import geometry_array, import_shapely, transformed
from hushgrid.arrays import Indices
from hushgrid.counting.counter import Counter
from hushgrid.errors import ArgumentError, HushgridWarning, quoted
from hushgrid.geometry.areas import AREA_LIMIT, H3_FINEST, AreaPartition
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, Domain
from hushgrid.inference.measurements import Measurements, NoisyValues, Regions
from hushgrid.methods.method import is_whole, record
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.exact import Exactable, exact, proportional_shares
from hushgrid.synopsis.answer import ONE_NOISE
from hushgrid.synopsis.synopsis import Synopsis


@dataclass(frozen=True, eq=False)
class Areas:
    """One noisy count for each public area, in levels or flat.

    Areas do not overlap. A point on a border that areas share is counted in the first of them; what lies in no area is
    not counted. In levels, such as counties in states, the areas of each level are counted with a share of ε, and least
    squares makes each the sum of its parts.

    Parameters
    ----------
    polygons : sequence or array of shapely geometries, GeoSeries, GeoDataFrame or mapping
        Polygons and multipolygons in the reference system of the domain, unless the frame carries another. They are
        public: they must not come from the data. A mapping has a column ``"geometry"`` and others beside it.
    names : str or sequence of str, optional
        What the areas are called, or the column of the frame that says so. By default the last of the levels, or the
        column ``name``; polygons without columns are called by their numbers.
    levels : sequence of str
        Columns of the frame that name the levels, the coarsest first and the areas themselves last:
        ``["state", "county"]``.
    shares : sequence of numbers or str, optional
        Share of ε for each level; they sum to one. By default in proportion to the cube root of the number of areas.

    Privacy
    -------
    The areas of a level are disjoint, so that their counts together have sensitivity 1: one record changes at most one
    of them, by one. A level is charged its share of ε, and the shares sum to one. A coarser area is the union of its
    parts. Which areas there are, and in which order, is a function of public arguments.

    Examples
    --------
    >>> from shapely import box
    >>> Areas([box(0, 0, 1, 1), box(1, 0, 2, 1)], names=["left", "right"]).names
    ('left', 'right')
    """

    name: ClassVar[str] = "areas"
    gist: ClassVar[str] = "one count for each of the areas given"
    polygons: Any = field(repr=False)
    names: str | Sequence[str] | None = field(default=None, kw_only=True, repr=False)
    levels: Sequence[str] = field(default=(), kw_only=True, repr=False)
    shares: Sequence[Exactable] | None = field(default=None, kw_only=True, repr=False)
    sha256: str = field(init=False)
    _made: AreaPartition | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        shapes = geometry_array(self.polygons)
        check_number(len(shapes))
        wanted = self.levels[-1] if self.names is None and self.levels else self.names
        object.__setattr__(self, "names", _names(self.polygons, wanted, len(shapes)))
        self._tell_of_empty(np.flatnonzero(~has_outline(shapes)))
        about = [self.names, str(getattr(self.polygons, "crs", None)), *([self._coarser] if self.levels else [])]
        digest = self._digest(about)
        for wkb in import_shapely().to_wkb(shapes, byte_order=1):
            digest.update(b"none" if wkb is None else wkb)
        object.__setattr__(self, "sha256", digest.hexdigest())

    @staticmethod
    def h3(*resolutions: int, domain: Domain | None = None, shares: Sequence[Exactable] | None = None) -> "H3Areas":
        """The H3 cells that meet a domain, in levels if there are several resolutions.

        They are called by their indexes, and cut where the domain ends. A coarser cell is the union of those whose
        parent it is in H3; its hexagon covers them nearly, not exactly. It needs ``pip install 'hushgrid[h3]'``.

        A point is counted in the cell that h3 would say, but for some within a ten-thousandth of an edge's length of a
        border: there, the straight lines in longitude and latitude decide that draw the arcs which border cells of H3.

        Parameters
        ----------
        *resolutions : int
            From 0, of which there are 122 cells on Earth, to 15; the coarsest first.
        domain : Domain, optional
            What the cells are to cover. If not given, the domain of the release.
        shares : sequence of numbers or str, optional
            Of ε, for each resolution, as for other areas.

        Examples
        --------
        >>> domain = Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
        >>> Areas.h3(4, 6).public_partition(domain).words
        '83 H3 cells, in 4 of level h3:4'
        """
        return H3Areas(resolutions=resolutions, within=domain, shares=shares)

    def _digest(self, about: list[Any]) -> "hashlib._Hash":
        """A hash of areas, and of their shares of the budget if these are good."""
        shares = [] if self.shares is None else [list(map(str, level_shares(self.shares, self.levels)))]
        return hashlib.sha256(json.dumps([*about, *shares]).encode())

    def _tell_of_empty(self, numbers: Indices) -> None:
        """Say which areas are left out because they have no outline."""
        assert isinstance(self.names, tuple)
        if len(numbers) == len(self.names):
            msg = "none of the areas has an outline."
            raise ArgumentError(msg)
        if len(numbers):
            shown = ", ".join(f"{self.names[number]} (feature {number})" for number in numbers[:3].tolist())
            more = f" and {len(numbers) - 3:,} more" if len(numbers) > 3 else ""
            text = f"areas without an outline are left out: {shown}{more}. Nothing can be counted in them."
            warnings.warn(text, HushgridWarning, stacklevel=4)

    @property
    def _coarser(self) -> dict[str, tuple[str, ...]]:
        """What each area lies in, by level."""
        return {level: _column(self.polygons, level) for level in self.levels[:-1]}

    def domain(self, crs: str = LONGITUDE_LATITUDE) -> Domain:
        """Smallest domain that holds all areas."""
        shapes = geometry_array(self.polygons)
        given = getattr(self.polygons, "crs", None)
        west, south, east, north = import_shapely().total_bounds(
            shapes if given is None else transformed(shapes, given, crs)
        )
        return Domain(west=west, south=south, east=east, north=north, crs=crs)

    def public_partition(self, domain: Domain) -> AreaPartition:
        """The areas in the reference system of a domain; bad ones are an error.

        They are kept: a request asks for them before the release does, and it takes seconds to check thousands.
        """
        if self._made is None or self._made.domain != domain:
            object.__setattr__(self, "_made", self._partition(domain))
        assert self._made is not None
        return self._made

    def _partition(self, domain: Domain) -> AreaPartition:
        assert isinstance(self.names, tuple)
        level, keys = self.levels[-1] if self.levels else AreaPartition.level, _keys(self.polygons)
        return area_partition(self.polygons, self.names, domain, level=level, coarser=self._coarser, keys=keys)

    def release(self, counter: Counter, budget: Budget) -> Synopsis:
        """Publish a count for each area of every level."""
        areas = self.public_partition(counter.domain)
        true_counts = counter.count(areas)
        *above, finest = self.shares_of(areas)
        coarser = [
            budget.measure(level.sums(true_counts), share) for level, share in zip(areas.levels, above, strict=True)
        ]
        measured = Measurements.of_leaves(budget.measure(true_counts, finest))
        if coarser:
            first, stop = (np.concatenate([level.starts[part] for level in areas.levels]) for part in (FIRST, STOP))
            taken = NoisyValues.joined(coarser)
            measured = replace(measured, regions=Regions(first=first, stop=stop), region_values=taken)
        synopsis = Synopsis.infer(
            areas,
            measured,
            inference="least-squares" if coarser else "direct",
            claim=budget.claim(),
            method=record(self),
        )
        return replace(synopsis, calibration=ONE_NOISE)

    def shares_of(self, areas: AreaPartition) -> tuple[Fraction, ...]:
        """Share of ε for each level, the coarsest first."""
        return default_shares(areas) if self.shares is None else level_shares(self.shares, self.levels)


@dataclass(frozen=True, eq=False)
class H3Areas(Areas):
    """H3 cells as areas; made by `Areas.h3`.

    Privacy
    -------
    That of `Areas`: which cells there are follows from the resolutions and the domain.
    """

    polygons: Any = field(default=None, init=False, repr=False)
    names: None = field(default=None, init=False, repr=False)
    levels: Sequence[str] = field(default=(), init=False, repr=False)
    resolutions: Sequence[int] = field(kw_only=True, repr=False)
    within: Domain | None = field(default=None, kw_only=True, repr=False)
    cells: str = field(init=False)

    def __post_init__(self) -> None:
        import_h3()
        check_resolutions(self.resolutions)
        object.__setattr__(self, "cells", _h3_text(self.resolutions))
        if len(self.resolutions) > 1:
            object.__setattr__(self, "levels", tuple(f"h3:{resolution}" for resolution in self.resolutions))
        about = [self.cells, None if self.within is None else self.within.bounds]
        object.__setattr__(self, "sha256", self._digest(about).hexdigest())

    def domain(self, crs: str = LONGITUDE_LATITUDE) -> Domain:
        """The domain that the cells are to cover."""
        if self.within is None or self.within.crs != crs:
            msg = f"H3 cells cover any domain. Give one in {crs}, domain=hg.Domain(west=, south=, east=, north=)."
            raise ArgumentError(msg)
        return self.within

    def _partition(self, domain: Domain) -> AreaPartition:
        check_in_degrees(domain)
        cells, shapes = h3_cells(domain if self.within is None else self.within, self.resolutions[-1])
        parent = import_h3().cell_to_parent
        coarser = {
            level: [parent(cell, resolution) for cell in cells]
            for level, resolution in zip(self.levels[:-1], self.resolutions[:-1], strict=True)
        }
        level = self.levels[-1] if self.levels else AreaPartition.level
        return area_partition(shapes, cells, domain, level=level, coarser=coarser)


def check_resolutions(resolutions: Sequence[int]) -> None:
    """Refuse what are not resolutions of H3, the coarsest first."""
    for resolution in resolutions:
        if not is_whole(resolution) or not 0 <= resolution <= H3_FINEST:
            msg = f"a resolution of H3 is a whole number from 0 to {H3_FINEST}, got {quoted(resolution)}."
            raise ArgumentError(msg)
    if not resolutions:
        msg = "H3 cells need a resolution, such as 8, or several as levels, such as 5, 8."
        raise ArgumentError(msg)
    in_order = sorted(set(resolutions))
    if list(resolutions) != in_order:
        msg = f"levels of H3 cells go from coarse to fine, got {_h3_text(resolutions)}. Take {_h3_text(in_order)}."
        raise ArgumentError(msg)


def _h3_text(resolutions: Sequence[int]) -> str:
    return f"h3:{','.join(map(str, resolutions))}"


FIRST, STOP = slice(None, -1), slice(1, None)  # of the starts of areas


def default_shares(areas: AreaPartition) -> tuple[Fraction, ...]:
    """Shares of the levels by the cube root of their areas.

    For sums over a tree, the worst variance is least if a level's share grows as the cube root of its nodes (the
    geometric budget of Cormode et al., ICDE 2012).
    """
    return proportional_shares(Fraction(1), [len(level.names) ** (1 / 3) for level in areas.all_levels])


def check_number(areas: int) -> None:
    """Refuse no areas, and more than the limit."""
    if areas == 0:
        msg = "there are no areas in it: give at least one polygon."
        raise ArgumentError(msg)
    if areas > AREA_LIMIT:
        msg = f"{areas:,} areas are over the limit of {AREA_LIMIT:,}. Give fewer, or publish on a grid and ask for "
        msg += "polygons afterwards."
        raise ArgumentError(msg)


def level_shares(shares: Sequence[Exactable], levels: Sequence[str]) -> tuple[Fraction, ...]:
    """Shares of the levels, if they sum to one.

    Examples
    --------
    >>> level_shares([0.2, "4/5"], ["state", "county"])
    (Fraction(1, 5), Fraction(4, 5))
    """
    exactly = tuple(exact(share, name="shares") for share in shares)
    named = ", ".join(levels)
    if not levels:
        msg = "shares divides the budget among levels, and there is only one. Leave the shares out."
        raise ArgumentError(msg)
    if len(exactly) != len(levels):
        msg = f"every level needs a share of the budget: got {len(exactly)} shares for {len(levels)} levels ({named}). "
        msg += "Leave shares out to have them chosen."
        raise ArgumentError(msg)
    if sum(exactly) != 1 or not all(share > 0 for share in exactly):
        msg = f"the shares of the levels ({named}) must be above 0 and sum to 1, got "
        msg += f"{' + '.join(map(str, shares))} = {float(sum(exactly)):g}. Leave shares out to have them chosen."
        raise ArgumentError(msg)
    return exactly


def _names(polygons: Any, names: str | Sequence[str] | None, size: int) -> tuple[str, ...]:
    """A text for each area."""
    if names is None:
        columns = _columns(polygons)
        names = next((column for column in columns if column.lower() == "name"), None)
        if names is None and columns:
            msg = f"say which column names the areas, names=COLUMN; there are: {', '.join(columns)}."
            raise ArgumentError(msg)
        if names is None:
            return tuple(map(str, range(size)))
    if isinstance(names, str):
        return _column(polygons, names)
    texts = tuple(map(str, np.asarray(names, dtype=object).tolist()))
    if len(texts) != size:
        msg = f"every area needs a name: got {len(texts):,} names for {size:,} areas."
        raise ArgumentError(msg)
    return texts


def _column(polygons: Any, name: str) -> tuple[str, ...]:
    """A column of a frame as texts, none of them empty."""
    columns = _columns(polygons)
    if name not in columns:
        there = f"there are: {', '.join(columns)}" if columns else "these polygons have none"
        msg = f"{name!r} must be a property of the areas, or a column of a GeoDataFrame; {there}."
        raise ArgumentError(msg)
    texts = []
    for number, value in enumerate(np.asarray(polygons[name], dtype=object).tolist()):
        text = "" if value is None or value != value else str(value).strip()  # NaN is not itself
        text = text.removesuffix(".0") if isinstance(value, float) else text  # some formats have no whole numbers
        if not text:
            msg = f"feature {number} has no {name!r}. Give it one, or leave the feature out."
            raise ArgumentError(msg)
        texts.append(text)
    return tuple(texts)


def _keys(polygons: Any) -> list[str]:
    """The first column that tells all areas apart, if there is one."""
    for column in _columns(polygons):
        values = list(map(str, np.asarray(polygons[column], dtype=object).tolist()))
        if len(set(values)) == len(values):
            return values
    return []


def _columns(polygons: Any) -> list[str]:
    """What areas are described by, beside their outlines."""
    columns = polygons if isinstance(polygons, Mapping) else getattr(polygons, "columns", ())
    return [str(column) for column in columns if column != "geometry"]
