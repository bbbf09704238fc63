"""Two releases of one domain, and what changed between them."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from numpy.typing import ArrayLike

from hushgrid.answering.surfaces import Polygons, Rectangles, Region
from hushgrid.change.blocks import block_grid, usual_blocks
from hushgrid.change.common import common_spread, scale_variance
from hushgrid.change.comparable import check_comparable, check_same_areas, check_two_files
from hushgrid.change.difference import Difference, Terms
from hushgrid.change.evidence import (
    CORRECTIONS,
    AskedPlaces,
    Correction,
    NamedAreas,
    cumulants_with_scale,
    with_error_of_scale,
)
from hushgrid.errors import ArgumentError, quoted
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import number_of
from hushgrid.geometry.grid import Grid
from hushgrid.synopsis.answer import UNCALIBRATED, check_confidence
from hushgrid.synopsis.facts import caveats_of
from hushgrid.synopsis.synopsis import Synopsis, read

if TYPE_CHECKING:
    from hushgrid.web.notebook import Map


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Change:
    """What changed from one release to another.

    Both were made with noise of their own, so that the variances of their counts add up. That holds where one was made
    with the other as its prior, too: the noise was drawn anew.

    Parameters
    ----------
    before, after : Synopsis
        The two releases, of one domain and with counts of the same kind.
    terms : Terms
        Confidence of intervals, and how often a change may be a false alarm.
    """

    before: Synopsis
    after: Synopsis
    terms: Terms

    def __repr__(self) -> str:
        return f"<Change from {self.before!r} to {self.after!r}>"

    def caveats(self, called: tuple[str, str] = ("before", "after")) -> tuple[str, ...]:
        """What readers must know beside the numbers.

        Parameters
        ----------
        called : pair of str
            What the releases are called.
        """
        of_each = caveats_of(dict(zip(called, (self.before, self.after), strict=True)))
        return (*self._about_periods, *self._about_intervals, *of_each)

    @property
    def _about_periods(self) -> tuple[str, ...]:
        """A warning where the periods of both are of different kinds."""
        one, other = self.before.period, self.after.period
        if one is None or other is None or one.kind == other.kind:
            return ()
        kinds = f"The first release is of a {one.kind}, {one.name}, and the second of a {other.kind}, {other.name}"
        return (f"{kinds}: the longer one has more records for that alone.",)

    @property
    def _about_intervals(self) -> tuple[str, ...]:
        """A warning where intervals were not calibrated."""
        if UNCALIBRATED not in (self.before.calibration, self.after.calibration):
            return ()
        return ("Not both releases have calibrated intervals, so more than the stated share may be false alarms.",)

    def answer(self, rects: ArrayLike) -> Difference:
        """What changed in rectangles.

        Parameters
        ----------
        rects : array_like, shape (n, 4) or (4,)
            West, south, east, north of each. The correction is for as many comparisons as there are rectangles.
        """
        return self._of_regions(self._rectangles(rects))

    def _rectangles(self, rects: ArrayLike) -> list[Region]:
        return [Rectangles(each.surface, rects, each.domain) for each in (self.before, self.after)]

    def answer_polygons(self, geometries: Any) -> Difference:
        """What changed in polygons.

        Parameters
        ----------
        geometries : shapely geometry, sequence or array of them, GeoSeries or GeoDataFrame
            As for `Synopsis.count_polygons`.
        """
        return self._of_regions([Polygons(each.area_surface, geometries) for each in (self.before, self.after)])

    def _of_regions(self, regions: list[Region]) -> Difference:
        found = Difference.of(self._counts(regions), self.terms)
        return found.scalar() if regions[0].is_one else found

    def _counts(self, regions: list[Region]) -> AskedPlaces:
        answers = [
            with_error_of_scale(synopsis.answer_region(region, self.terms.confidence), scale_variance(synopsis))
            for synopsis, region in zip((self.before, self.after), regions, strict=True)
        ]
        return AskedPlaces(
            before=answers[0],
            after=answers[1],
            calibrations=(self.before.calibration, self.after.calibration),
            area_shares=(regions[0].area_shares(), regions[1].area_shares()),
            common=self._common,
            ratio=max(self.after.total, 1.0) / max(self.before.total, 1.0),
        )

    @cached_property
    def _common(self) -> float:
        return common_spread(self.before, self.after)

    def table(self, level: str | None = None) -> pa.Table:
        """What changed in the named areas of two releases on the same areas.

        The columns are the name and the fields of `Difference`; areas come in the order of their file.

        Parameters
        ----------
        level : str, optional
            Which level of areas, by default the finest.
        """
        names, found = self.areas(level)
        return pa.table({"name": names, **found.columns()})

    def areas(self, level: str | None = None) -> tuple[list[str], Difference]:
        """Names of the areas of a level, and what changed in each."""
        check_same_areas(self.before, self.after)
        partition = self.before.partition
        assert isinstance(partition, AreaPartition)
        areas = partition.level_called(level)
        one, other = (
            cumulants_with_scale(*each.districts.cumulants(level), scale_variance(each))
            for each in (self.before, self.after)
        )
        counts, variances, fourths = zip(one, other, strict=True)
        pair = NamedAreas(counts=counts, variances=variances, fourths=fourths, confidence=self.terms.confidence)
        order = partition.file_order(areas).tolist()
        return [areas.names[number] for number in order], Difference.of(pair, self.terms)

    @property
    def on_same_areas(self) -> bool:
        """Whether both releases were counted on the same areas."""
        return not self.before.partition.tiles and self.before.partition == self.after.partition

    def grid(self, longest: int | None = None) -> pa.Table:
        """What changed in the blocks of a grid.

        The columns are west, south, east, north and the fields of `Difference`.

        Parameters
        ----------
        longest : int, optional
            Blocks along the longer side. By default as many as let a doubling be found in nearly all of them.
        """
        grid, found = self.blocks(longest)
        bounds = dict(zip(("west", "south", "east", "north"), grid.bounds().T, strict=True))
        return pa.table({**bounds, **found.columns()})

    def blocks(self, longest: int | None = None) -> tuple[Grid, Difference]:
        """A grid of blocks, and what changed in each."""
        domain = self.before.domain
        if longest is not None:
            grid = block_grid(domain, longest)
        else:
            grid = usual_blocks(domain, lambda rects: self._counts(self._rectangles(rects)), rate=self.terms.rate)
        return grid, self.answer(grid.bounds())

    def map(self, *, grid: int | None = None, title: str | None = None) -> "Map":
        """Both releases and their difference as a web page that works offline.

        It shows itself in a notebook. ``change.map().save("change.html")`` keeps it, and ``.open()`` shows it in a
        browser.

        Parameters
        ----------
        grid : int, optional
            Blocks along the longer side, as for `grid`, if the releases are not on the same areas.
        title : str, optional
            Heading of the page.
        """
        from hushgrid.web.change import change_map

        return change_map(self, grid=grid, title=title)


def compare(
    before: Synopsis | str | Path,
    after: Synopsis | str | Path,
    *,
    confidence: float = 0.95,
    rate: float = 0.05,
    correction: Correction = "bh",
) -> Change:
    """Compare two releases of one domain.

    Parameters
    ----------
    before, after : Synopsis or path
        The releases. Their counts must mean the same: one domain, one unit, one bound on the records of a user.
    confidence : float
        How often an interval should hold the true difference or ratio.
    rate : float
        With ``bh``, the share of false ones among the changes called significant; with ``holm``, the chance of any.
    correction : "bh" or "holm"
        For many comparisons: Benjamini and Hochberg's, or Holm's, which finds less and errs less.

    Examples
    --------
    >>> import hushgrid as hg
    >>> square = hg.Domain(west=0, south=0, east=1, north=1)
    >>> few, many = (
    ...     hg.publish([[0.2, 0.7]] * number, domain=square, epsilon=1, method="ug") for number in (1000, 3000)
    ... )
    >>> change = hg.compare(few, many).answer([0.0, 0.5, 0.5, 1.0])
    >>> bool(change.significant), 1900 < change.difference < 2100
    (True, True)
    """
    check_confidence(confidence)
    share = number_of(rate)
    if not 0 < share < 1:
        msg = f"rate must lie between 0 and 1, such as 0.05; got rate={quoted(rate)}."
        raise ArgumentError(msg, instead={"rate": 0.05})
    if correction not in CORRECTIONS:
        msg = f"correction must be one of {', '.join(CORRECTIONS)}; got correction={quoted(correction)}."
        raise ArgumentError(msg, instead={"correction": "bh"})
    if not isinstance(before, Synopsis) and not isinstance(after, Synopsis):
        check_two_files(Path(before), Path(after))
    one, other = (each if isinstance(each, Synopsis) else read(each) for each in (before, after))
    check_comparable(one, other)
    terms = Terms(confidence=float(confidence), rate=share, correction=correction)
    return Change(before=one, after=other, terms=terms)
