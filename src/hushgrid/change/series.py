"""Releases of one kind, period after period."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from hushgrid.arrays import Floats
from hushgrid.change.comparable import check_comparable, check_same_areas
from hushgrid.errors import ArgumentError, InputError
from hushgrid.files.paths import FOLDER, irregularity
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.rects import check_rects
from hushgrid.periods import Period, PeriodKind, run_of
from hushgrid.synopsis.answer import Answer
from hushgrid.synopsis.synopsis import Synopsis, read
from hushgrid.text import title_of

ENDINGS = (".parquet", ".geoparquet", ".pq")
MARKED_ENDINGS = tuple(f".dp{ending}" for ending in ENDINGS)
MOST_PERIODS = 10_000  # gaps included


@dataclass(frozen=True, kw_only=True, eq=False)
class OverTime:
    """Counts of places, period by period, with intervals.

    Parameters
    ----------
    periods : tuple of str
        In order, those without a release too.
    estimate, low, high : array, shape (periods, places)
        As the fields of `Answer`; NaN in periods without a release.
    usable : array of bool, shape (periods, places)
        Whether the interval is at most as wide as the estimate.
    """

    periods: tuple[str, ...]
    estimate: Floats
    low: Floats
    high: Floats
    usable: NDArray[np.bool_]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which periods have a release, shape (periods,)."""
        return np.asarray(~np.isnan(self.estimate).any(axis=1))

    def table(self, places: Mapping[str, Sequence[Any]]) -> pa.Table:
        """One row for each period and place, gaps as nulls.

        Parameters
        ----------
        places : mapping of str to sequence
            Columns that tell the places apart.
        """
        periods, size = self.estimate.shape
        columns: dict[str, Any] = {"period": np.repeat(np.array(self.periods, object), size)}
        for name, values in places.items():
            columns[name] = pa.array([*values] * periods)
        gaps = np.repeat(~self.known, size)
        for name in ("estimate", "low", "high", "usable"):
            columns[name] = pa.array(getattr(self, name).ravel(), mask=gaps)
        return pa.table(columns)


class Series(Mapping[str, Synopsis]):
    """Releases of one domain and one kind, in the order of their periods.

    A period is part of the name of a file, such as ``trips-2026-03.dp.parquet``; or names are given. If all names hold
    periods of one kind, those in between that have no release are gaps.

    Parameters
    ----------
    releases : folder, sequence of paths, or mapping of str to release
        All release files of a folder, some files, or releases by the name of their period.

    Examples
    --------
    >>> import hushgrid as hg
    >>> square = hg.Domain(west=0, south=0, east=1, north=1)
    >>> months = {
    ...     name: hg.publish([[0.2, 0.7]] * number, domain=square, epsilon=1, method="ug")
    ...     for name, number in {"2026-01": 1000, "2026-02": 1100, "2026-04": 3000}.items()
    ... }
    >>> series = hg.Series(months)
    >>> series.periods
    ('2026-01', '2026-02', '2026-03', '2026-04')
    >>> series.answer([0.0, 0.5, 0.5, 1.0]).estimate.ravel().round(-3).tolist()
    [1000.0, 1000.0, nan, 3000.0]
    """

    def __init__(self, releases: str | Path | Sequence[str | Path] | Mapping[str, Synopsis | str | Path]) -> None:
        given = releases if isinstance(releases, Mapping) else _by_title(release_files(releases))
        if not given:
            msg = "a series needs at least one release."
            raise ArgumentError(msg)
        found = {name: Period.within(name) for name in given}
        dated = {name: period for name, period in found.items() if period is not None}
        is_dated = len(dated) == len(given) and len({period.kind for period in dated.values()}) == 1
        self.kind: PeriodKind | None = next(iter(dated.values())).kind if is_dated else None
        self.periods: tuple[str, ...] = _with_gaps(dated) if is_dated else tuple(given)
        names = {dated[name].name: name for name in given} if is_dated else {name: name for name in given}
        self._releases = {period: _opened(given[names[period]]) for period in self.periods if period in names}
        first, *others = self._releases.items()
        for period, synopsis in others:
            _check_kind(first, (period, synopsis))
        for period, synopsis in self.items():
            _check_own_period(names[period], found[names[period]], synopsis)

    def __getitem__(self, period: str) -> Synopsis:
        return self._releases[period]

    def __iter__(self) -> Iterator[str]:
        return iter(self._releases)

    def __len__(self) -> int:
        return len(self._releases)

    def __repr__(self) -> str:
        gaps = len(self.periods) - len(self)
        missing = f", {gaps} without a release" if gaps else ""
        return f"<Series of {len(self)} releases, {self.periods[0]} to {self.periods[-1]}{missing}>"

    @property
    def domain(self) -> Domain:
        """The domain of all of them."""
        return next(iter(self.values())).domain

    @property
    def last(self) -> Synopsis:
        """The release of the last period that has one."""
        *_, last = self.values()
        return last

    @property
    def lifetime(self) -> Fraction:
        """Epsilon of all releases together.

        It is what they cost somebody who is present in all of them.
        """
        return sum((synopsis.claim.epsilon for synopsis in self.values()), Fraction(0))

    @property
    def everyone(self) -> str:
        """What all releases together cost somebody present in each, as a sentence."""
        claim = next(iter(self.values())).claim
        what = self.kind or "release"
        several, number = len(self) > 1, f"{len(self):,}"
        where = f"all {number} {what}s" if several else f"the one {what}"
        by = f"these {number} releases, the sum of what each costs" if several else "this release"
        a_record = "a record" if claim.unit == "record" else "records"
        return (
            f"Someone with {a_record} in {where}: epsilon {float(self.lifetime):g} by {by}. Other releases of the same "
            "records, such as one that was corrected, add to it."
        )

    @property
    def on_same_areas(self) -> bool:
        """Whether all releases were counted on the same areas."""
        first = next(iter(self.values())).partition
        return not first.tiles and all(synopsis.partition == first for synopsis in self.values())

    def answer(self, rects: ArrayLike, *, confidence: float = 0.95) -> OverTime:
        """Counts of rectangles over time.

        Parameters
        ----------
        rects : array_like, shape (n, 4) or (4,)
            West, south, east, north of each.
        confidence : float
            How often an interval should hold the true count.
        """
        asked = check_rects(rects)
        return self._over_time(lambda synopsis: synopsis.answer(asked, confidence=confidence))

    def answer_polygons(self, geometries: Any, *, confidence: float = 0.95) -> OverTime:
        """Counts of polygons over time; `geometries` are several."""
        return self._over_time(lambda synopsis: synopsis.answer_polygons(geometries, confidence=confidence))

    def areas(self, level: str | None = None, *, confidence: float = 0.95) -> tuple[list[str], OverTime]:
        """Names of the areas of all releases, and their counts over time.

        Parameters
        ----------
        level : str, optional
            Which level of areas, by default the finest.
        """
        first, *others = self.values()
        for other in others:
            check_same_areas(first, other)
        names, _ = first.districts.answers(level, confidence=confidence)
        return names, self._over_time(lambda each: each.districts.answers(level, confidence=confidence)[1])

    def table(self, level: str | None = None, *, confidence: float = 0.95) -> pa.Table:
        """Counts of named areas over time: period, name, estimate, low, high, usable."""
        names, found = self.areas(level, confidence=confidence)
        return found.table({"name": names})

    def _over_time(self, ask: Callable[[Synopsis], Answer]) -> OverTime:
        answers = {period: ask(synopsis) for period, synopsis in self.items()}
        size = len(np.atleast_1d(next(iter(answers.values())).estimate))

        def rows(name: str, gap: float) -> NDArray[Any]:
            return np.array(
                [
                    np.atleast_1d(getattr(answers[period], name)) if period in answers else np.full(size, gap)
                    for period in self.periods
                ]
            )

        numbers = {name: rows(name, np.nan) for name in ("estimate", "low", "high")}
        return OverTime(periods=self.periods, **numbers, usable=rows("usable", False).astype(bool))


def release_files(place: str | Path | Iterable[str | Path]) -> list[Path]:
    """Files of a folder that may be releases, or those given.

    Where some are called ``.dp.parquet``, as releases are by habit, others beside them are left alone: they may be
    points.
    """
    if not isinstance(place, str | Path):
        return [Path(file) for file in place]
    folder = Path(place)
    if irregularity(folder) != FOLDER:
        msg = f"{folder} is not a folder of releases. Give a folder, or a list of files."
        raise InputError(msg)
    files = sorted(file for file in folder.iterdir() if file.name.endswith(ENDINGS) and file.is_file())
    marked = [file for file in files if file.name.endswith(MARKED_ENDINGS)]
    if marked:
        return marked
    if not files:
        msg = f"{folder} holds no release: no name in it ends in {' or '.join(ENDINGS)}."
        raise InputError(msg)
    return files


def _by_title(files: Sequence[Path]) -> dict[str, Path]:
    """Files by their names without endings."""
    titles: dict[str, Path] = {}
    for file in files:
        title = title_of(file)
        if title in titles:
            msg = f"two files are called {title}: {titles[title]} and {file}. Give releases by name: {{name: file}}."
            raise ArgumentError(msg)
        titles[title] = file
    return titles


def _with_gaps(dated: Mapping[str, Period]) -> tuple[str, ...]:
    """All periods from the first to the last."""
    periods = sorted(dated.values())
    for one, other in pairwise(periods):
        if one == other:
            first, second, *_ = (name for name, period in dated.items() if period == one)
            msg = f"two releases are of {one.name}: {first} and {second}. Leave one out."
            raise ArgumentError(msg)
    names = [period.name for period in islice(run_of(periods[0], periods[-1]), MOST_PERIODS + 1)]
    if len(names) > MOST_PERIODS:
        msg = f"from {periods[0].name} to {periods[-1].name} there are more than {MOST_PERIODS:,} periods."
        raise ArgumentError(msg)
    return tuple(names)


def _opened(release: Synopsis | str | Path) -> Synopsis:
    return release if isinstance(release, Synopsis) else read(release)


def _check_kind(first: tuple[str, Synopsis], other: tuple[str, Synopsis]) -> None:
    """Refuse a release whose counts mean something else than those of the first."""
    try:
        check_comparable(first[1], other[1])
    except ArgumentError as error:
        msg = f"{first[0]} and {other[0]} are not a series: {error.complaint}"
        raise ArgumentError(msg) from None


def _check_own_period(name: str, called: Period | None, synopsis: Synopsis) -> None:
    """Refuse a release of another period than its name says."""
    own = synopsis.period
    if own is not None and called is not None and own.name != called.name:
        msg = f"{name} counts records of {own.name}, and its name says {called.name}. Rename it, or give releases by "
        msg += f"the names of their periods: {{{own.name!r}: file}}."
        raise ArgumentError(msg)
