"""Releases of all slices of one data set: by hour, by kind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from hushgrid.answering.surfaces import Polygons, Rectangles, Region
from hushgrid.change.comparable import check_same_areas
from hushgrid.errors import ArgumentError, quoted
from hushgrid.geometry.domain import Domain
from hushgrid.slices.by import By
from hushgrid.slices.sums import Common, reconciled, summed
from hushgrid.synopsis.answer import Answer, Estimates, answer_of_noise, check_confidence
from hushgrid.synopsis.claim import Claim
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.synopsis.whole import rounded_to_sum

FEW = 6  # names that a message lists
RegionOf = Callable[[Synopsis], Region]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Slices(Mapping[str, Synopsis]):
    """One release of each slice, and perhaps one of all together.

    A record lies in one slice. So all of them together cost as much as the one that costs most, and their noise is
    independent.

    Parameters
    ----------
    by : By
        What the slices are.
    parts : mapping of str to Synopsis
        The release of each, in the order of ``by.names``.
    total : Synopsis, optional
        A release of all slices together, paid for in addition.

    Examples
    --------
    >>> import hushgrid as hg
    >>> square = hg.Domain(west=0, south=0, east=1, north=1)
    >>> kinds = hg.Slices(
    ...     by=hg.By("kind", values=["bike", "bus"]),
    ...     parts={
    ...         name: hg.publish([[0.2, 0.7]] * number, domain=square, epsilon=1, method=hg.UniformGrid(side=2))
    ...         for name, number in {"bike": 1000, "bus": 3000}.items()
    ...     },
    ... )
    >>> kinds
    <Slices by kind: bike, bus; epsilon=1>
    >>> kinds.answer([0.0, 0.5, 0.5, 1.0]).estimate.round(-3).tolist()
    [1000.0, 3000.0]
    >>> round(kinds.answer([0.0, 0.5, 0.5, 1.0], slices=["bike", "bus"]).estimate, -3)
    4000.0
    """

    by: By
    parts: Mapping[str, Synopsis]
    total: Synopsis | None = None

    def __post_init__(self) -> None:
        if tuple(self.parts) != self.by.names:
            msg = f"parts must have a release for each slice, in order: {few(self.by.names)}."
            raise ArgumentError(msg)
        first = self.parts[self.names[0]]
        for name, each in self.all_parts():
            if each.domain != first.domain or _kind(each.claim) != _kind(first.claim):
                what = "the total" if name is None else f"the slice {quoted(name)}"
                msg = f"slices must have one domain and protect the same: {what} differs from {quoted(self.names[0])}."
                raise ArgumentError(msg)

    def __getitem__(self, name: str) -> Synopsis:
        if name not in self.parts:
            raise KeyError(name)
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        mark = ", simulation=True" if self.simulation else ""
        columns = ", ".join(self.by.columns)
        return f"<Slices by {columns}: {few(self.names)}; epsilon={float(self.claim.epsilon):g}{mark}>"

    @property
    def names(self) -> tuple[str, ...]:
        """What the slices are called, in order."""
        return self.by.names

    @property
    def domain(self) -> Domain:
        """The public rectangle that all slices cover."""
        return self.parts[self.names[0]].domain

    @property
    def simulation(self) -> bool:
        """Whether any noise came from a seed."""
        return any(each.simulation for _, each in self.all_parts())

    @property
    def on_areas(self) -> bool:
        """Whether slices were counted on areas that were given."""
        return not self.parts[self.names[0]].partition.tiles

    @property
    def claim(self) -> Claim:
        """The guarantee of all slices and the total together.

        A record is in one slice and in the total, so that it pays for the dearest slice and for the total.
        """
        dearest = max((each.claim for each in self.values()), key=lambda claim: claim.epsilon)
        return dearest if self.total is None else dearest.beside(self.total.claim)

    @cached_property
    def common(self) -> Common:
        """Errors that all slices have in common."""
        return Common.of(list(self.values()))

    def shown(self, name: str | None = None) -> Synopsis:
        """One slice as readers should see it: under the guarantee of all.

        Its counts may follow from the total and the other slices, so that its own claim says less than they cost.

        Parameters
        ----------
        name : str, optional
            The slice; by default what stands for all of them, the total or else the first slice.
        """
        part = self.parts[self.named(name)[0]] if name is not None else self.total or self.parts[self.names[0]]
        return replace(part, claim=self.claim)

    def all_parts(self) -> Iterator[tuple[str | None, Synopsis]]:
        """Every release with its name; the total comes last and has none."""
        yield from self.parts.items()
        if self.total is not None:
            yield None, self.total

    def named(self, names: str | Sequence[str]) -> list[str]:
        """Names of some slices, each once, if all are known."""
        wanted = [names] if isinstance(names, str) else list(names)
        unknown = next((name for name in wanted if name not in self.parts), None)
        if unknown is not None:
            near = dict.fromkeys(map(self._nearest, wanted))  # all of them: a sum of fewer is another question
            msg = f"there is no slice {quoted(unknown)}. The slices are: {few(self.names)}."
            raise ArgumentError(msg, instead=None if None in near else {"slice": ",".join(map(str, near))})
        if not wanted or len(set(wanted)) < len(wanted):
            msg = f"give at least one slice, and none twice; got {quoted(', '.join(wanted))}."
            raise ArgumentError(msg)
        return wanted

    def _nearest(self, name: object) -> str | None:
        """The slice that a name was likely meant for."""
        written = f"{name!s:0>2}"  # hours have two digits, and to 7 seventeen is as near as 07
        near = [each for each in (str(name), written) if each in self.parts]
        near += [each for each in self.names if each.casefold() == str(name).casefold()]
        return next(iter([*near, *get_close_matches(str(name), self.names, n=1)]), None)

    def answer(
        self, rects: ArrayLike, *, slices: str | Sequence[str] | None = None, confidence: float = 0.95
    ) -> Answer:
        """Estimated number of points in rectangles, with intervals.

        Parameters
        ----------
        rects : array_like, shape (n, 4) or (4,)
            West, south, east, north of each. Parts outside the domain count nothing.
        slices : str or sequence of str, optional
            Slices to add up. Of all slices, it is reconciled with the released total.
        confidence : float
            How often such an interval should hold the true count.

        Returns
        -------
        Answer
            Of the sum, as `Synopsis.answer` has it. Without `slices`, one row for each: shape (slices, n), or (slices,)
            for one rectangle.
        """
        return self._answer(lambda each: Rectangles(each.surface, rects, each.domain), slices, confidence)

    def answer_polygons(
        self, geometries: Any, *, slices: str | Sequence[str] | None = None, confidence: float = 0.95
    ) -> Answer:
        """Estimated number of points in polygons, with intervals.

        Parameters
        ----------
        geometries : shapely geometry, sequence or array of them, GeoSeries or GeoDataFrame
            As for `Synopsis.count_polygons`.
        slices, confidence
            As for `answer`.
        """
        return self._answer(lambda each: Polygons(each.area_surface, geometries), slices, confidence)

    def _answer(self, region_of: RegionOf, slices: str | Sequence[str] | None, confidence: float) -> Answer:
        check_confidence(confidence)
        names = self.names if slices is None else self.named(slices)
        regions = [region_of(self.parts[name]) for name in names]
        found = [
            self.parts[name].estimate_region(region, confidence) for name, region in zip(names, regions, strict=True)
        ]
        is_one = regions[0].is_one
        if slices is None:
            return _stacked([each.answer() for each in found], is_one=is_one)
        answer = self._sum(found, names, region_of, confidence).answer()
        return answer.scalar() if is_one else answer

    def _sum(self, found: list[Estimates], names: Sequence[str], region_of: RegionOf, confidence: float) -> Estimates:
        together = summed(found, self.common, confidence)
        if self.total is None or len(names) < len(self.names):
            return together
        return reconciled(self.total.estimate_region(region_of(self.total), confidence), together)

    def totals(self, *, confidence: float = 0.95) -> Answer:
        """Estimated number of points of each slice, shape (slices,)."""
        if not self.on_areas:
            return self.answer(self.domain.bounds, confidence=confidence)
        laws = [each.districts.cumulants_of_all() for each in self.values()]
        counts, variances, fourths = (np.concatenate(each) for each in zip(*laws, strict=True))
        return answer_of_noise(counts, variances, fourths, confidence)

    def total_of_all(self, *, confidence: float = 0.95) -> Answer:
        """Estimated number of points of all slices together."""
        if not self.on_areas:
            return self.answer(self.domain.bounds, slices=self.names, confidence=confidence)
        laws = [each.districts.cumulants_of_all() for each in self.values()]
        counts, variances, fourths = (np.sum(each, axis=0) for each in zip(*laws, strict=True))
        return answer_of_noise(counts, variances, fourths, confidence).scalar()

    def areas(
        self, level: str | None = None, *, slices: str | Sequence[str] | None = None, confidence: float = 0.95
    ) -> tuple[list[str], Answer]:
        """Names of the areas of all slices, and their counts.

        Parameters
        ----------
        level : str, optional
            Which level of areas, by default the finest.
        slices, confidence
            As for `answer`: answers have shape (slices, n), or (n,) for the sum.
        """
        names = self.names if slices is None else self.named(slices)
        first, *others = (self.parts[name] for name in names)
        called, answer = first.districts.answers(level, confidence=confidence)
        for other in others:
            check_same_areas(first, other)
        if slices is None:
            answers = [each.districts.answers(level, confidence=confidence)[1] for each in (first, *others)]
            return called, _stacked(answers, is_one=False)
        if not others:
            return called, answer
        laws = [each.districts.cumulants(level) for each in (first, *others)]
        counts, variances, fourths = (np.sum(each, axis=0) for each in zip(*laws, strict=True))
        return called, answer_of_noise(counts, variances, fourths, confidence)

    def table(
        self, level: str | None = None, *, slices: str | Sequence[str] | None = None, confidence: float = 0.95
    ) -> pa.Table:
        """The named areas of each slice, or of a sum, with intervals.

        Without `slices` the first column is the slice, and every area has a row for each.
        """
        names, answer = self.areas(level, slices=slices, confidence=confidence)
        columns = {name: np.ravel(getattr(answer, name)) for name in ("estimate", "low", "high", "usable")}
        if slices is not None:
            return pa.table({"name": names, **columns})
        return pa.table({"slice": self._repeated([len(names)] * len(self)), "name": [*names] * len(self), **columns})

    def cells(self, *, geometry: bool = False) -> pa.Table:
        """A table of all leaf cells of all slices.

        As `Synopsis.cells`, with the slice in a first column.

        Parameters
        ----------
        geometry : bool
            Whether a last column has the cells as polygons in well-known binary.
        """
        tables = [each.cells(geometry=geometry) for each in self.values()]
        together = pa.concat_tables(tables)
        return together.add_column(0, "slice", self._repeated([table.num_rows for table in tables]))

    def sample(self, n: int, *, seed: int | None = None, within: Any = None) -> pa.Table:
        """Synthetic points that follow the slices.

        Every slice gets its share of the points; see `Synopsis.sample`.

        Parameters
        ----------
        n : int
            How many, of all slices together.
        seed : int, optional
            The same points again for the same seed.
        within : shapely geometry, sequence or array of them, GeoSeries or GeoDataFrame, optional
            Polygons that hold all points.

        Returns
        -------
        pyarrow.Table
            The slice, and longitude and latitude, or easting and northing.
        """
        sizes = self.shares_of(n)
        seeds = [None] * len(self) if seed is None else np.random.SeedSequence(seed).generate_state(len(self)).tolist()
        drawn = [
            each.sample(size, seed=one, within=within)
            for each, size, one in zip(self.values(), sizes, seeds, strict=True)
        ]
        columns = dict(zip(self.domain.axes, np.concatenate(drawn).T, strict=True))
        return pa.table({"slice": self._repeated(sizes), **columns})

    def shares_of(self, n: int) -> list[int]:
        """Whole numbers that sum to n, as the totals of the slices do."""
        totals = np.array([max(each.total, 0.0) for each in self.values()])
        if not totals.any():
            totals += 1
        return [int(size) for size in rounded_to_sum(n * totals / totals.sum(), n)]

    def _repeated(self, sizes: Sequence[int]) -> pa.DictionaryArray:
        """A column of slices, each as often as it has rows."""
        numbers = np.repeat(np.arange(len(self), dtype=np.int32), sizes)
        return pa.DictionaryArray.from_arrays(pa.array(numbers), pa.array(self.names))

    def save(self, path: str | Path, *, overwrite: bool = False, allow_simulation: bool = False) -> None:
        """Write all slices to one GeoParquet file.

        Its rows are the cells of all slices, and its column ``slice`` says which; it is null in the rows of the total.

        Parameters
        ----------
        path : path
            Where to; a name ending in ``.dp.parquet`` tells readers what they hold.
        overwrite : bool
            Whether a file that exists may be replaced.
        allow_simulation : bool
            Whether simulated slices may be written; their file carries the mark.
        """
        from hushgrid.slices.files import write_slices  # it imports this type, and few users need it

        write_slices(self, Path(path), overwrite=overwrite, allow_simulation=allow_simulation)


def read_saved(path: str | Path) -> Synopsis | Slices:
    """Read what `Synopsis.save` or `Slices.save` wrote.

    The counts are those of the file, bit for bit; their variances follow from the measurements. `hushgrid verify`
    tells whether the counts follow from them, too.

    Examples
    --------
    >>> import hushgrid as hg, tempfile
    >>> square = hg.Domain(west=0, south=0, east=1, north=1)
    >>> release = hg.publish([[0.2, 0.7]] * 1000, domain=square, epsilon=1, method=hg.UniformGrid(side=2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release.save(f"{folder}/trips.dp.parquet")
    ...     hg.read(f"{folder}/trips.dp.parquet")
    <Synopsis by ug: epsilon=1, 4 cells>
    """
    from hushgrid.slices.files import SlicedFile, open_saved

    with open_saved(Path(path)) as file:
        return file.slices() if isinstance(file, SlicedFile) else file.synopsis()


def _kind(claim: Claim) -> tuple[str, bool, int]:
    return claim.unit, claim.distinct, claim.max_per_unit


def few(names: Sequence[str]) -> str:
    """Some of the names, and how many there are.

    Examples
    --------
    >>> few([str(number) for number in range(24)])
    '0, 1, 2, 3, ..., 23 (24 in all)'
    """
    if len(names) <= FEW:
        return ", ".join(names)
    return f"{', '.join(names[: FEW - 2])}, ..., {names[-1]} ({len(names):,} in all)"


def _stacked(answers: Sequence[Answer], *, is_one: bool) -> Answer:
    rows = {field.name: np.stack([getattr(each, field.name) for each in answers]) for field in fields(Answer)}
    return Answer(**({name: values[:, 0] for name, values in rows.items()} if is_one else rows))
