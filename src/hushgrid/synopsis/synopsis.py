"""The synopsis: the one type that becomes public.

It alone crosses from the private side to the public one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import is_
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from hushgrid.answering.around import PlacedAreaSurface, PlacedSurface
from hushgrid.answering.outlines import Frame, is_frame
from hushgrid.answering.polygons import AreaSurface
from hushgrid.answering.surface import Surface
from hushgrid.answering.surfaces import Polygons, Rectangles, Region, slopes_of, surface_of
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.partition import Structure
from hushgrid.geometry.tree import Tree
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.measurements import Measurements
from hushgrid.synopsis.answer import UNCALIBRATED, Answer, Calibration, Estimates, check_confidence, normal_reach
from hushgrid.synopsis.cells import places, shapes
from hushgrid.synopsis.claim import Claim, LedgerMark, MethodRecord, PeriodRecord, PriorRecord
from hushgrid.synopsis.districts import Districts
from hushgrid.synopsis.kept import KeptShare, Noisy
from hushgrid.synopsis.places import CountedPlaces, PlacesOnTree
from hushgrid.synopsis.scale import Scale
from hushgrid.work import current_work

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hushgrid.web.notebook import Map

F = TypeVar("F", bound=Frame)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Synopsis:
    """Noisy counts on a partition, under differential privacy.

    Everything here is a function of what was released: the structure, the signed integer measurements and the claim.
    Nothing that reads a synopsis can reach the points it was made from.

    Parameters
    ----------
    partition : Structure
        The leaf cells.
    measurements : Measurements
        Every integer that was measured, with the rate of its noise.
    inference : str
        How `counts` follow from `measurements`: a name in `INFERENCES`.
    counts : array of float, shape (leaves,)
        Estimated count of each leaf.
    claim : Claim
        The guarantee.
    method : MethodRecord
        The method and its parameters.
    calibration : Calibration
        How wide intervals have to be, found from the release itself.
    scale : Scale, optional
        What counts of kept records were multiplied by, so that they sum to a total, and what is known of all records.
    ledger : LedgerMark, optional
        The entry of a ledger that it was charged to.
    prior : PriorRecord, optional
        The public prior that it was held against, and whether counts follow from it.
    period : PeriodRecord, optional
        The period whose records alone it counts.
    places : CountedPlaces, optional
        Public places that were counted by themselves. The counts of leaves have the points in them; the measurements of
        leaves do not.
    solved : Evidence, optional
        What follows from the partition and the measurements, where it is known already.

    Examples
    --------
    >>> import hushgrid as hg
    >>> square = hg.Domain(west=0, south=0, east=1, north=1)
    >>> release = hg.publish([[0.2, 0.7]] * 1000, domain=square, epsilon=1, method=hg.UniformGrid(side=2))
    >>> release
    <Synopsis by ug: epsilon=1, 4 cells>
    >>> round(release.total, -3), release.claim.unit
    (1000.0, 'record')
    """

    partition: Structure
    measurements: Measurements
    inference: str
    counts: NDArray[np.float64]
    claim: Claim
    method: MethodRecord
    calibration: Calibration = UNCALIBRATED
    scale: Scale | None = None
    ledger: LedgerMark | None = None
    prior: PriorRecord | None = None
    period: PeriodRecord | None = None
    places: CountedPlaces | None = None
    solved: Evidence | None = None

    @classmethod
    def infer(
        cls, partition: Structure, measurements: Measurements, *, inference: str, claim: Claim, method: MethodRecord
    ) -> Self:
        """Make a synopsis of measurements by an inference."""
        current_work().begin("inference")
        evidence = Evidence(partition, measurements)
        return cls(
            partition=partition,
            measurements=measurements,
            inference=inference,
            counts=INFERENCES[inference].counts(evidence),
            claim=claim,
            method=method,
            solved=evidence,
        )

    def __repr__(self) -> str:
        mark = ", simulation=True" if self.simulation else ""
        epsilon = float(self.claim.epsilon)
        return f"<Synopsis by {self.method.name}: epsilon={epsilon:g}, {self.partition.cells:,} cells{mark}>"

    @cached_property
    def evidence(self) -> Evidence:
        """The partition and its measurements, solved once."""
        parts = self.partition, self.measurements, None if self.prior is None else self.prior.leaves
        known = self.solved
        if known is not None and all(map(is_, (known.partition, known.measurements, known.prior), parts)):
            return known
        return Evidence(*parts)

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        """Noise variance of each leaf's count, shape (leaves,)."""
        variances = INFERENCES[self.inference].variances(self.evidence)
        if self.places is not None:
            variances = self.places_on_tree.variances(variances)
        return self.leaf_factors**2 * variances

    @property
    def domain(self) -> Domain:
        """The public rectangle the synopsis covers."""
        return self.partition.domain

    @property
    def simulation(self) -> bool:
        """Whether the noise came from a seed.

        Such a synopsis is an experiment, not a release.
        """
        return self.claim.simulation

    @property
    def factor(self) -> float:
        """What estimates are multiplied by after the inference.

        It is one, unless the release is scaled to a total.
        """
        return 1.0 if self.scale is None else self.scale.factor

    @property
    def leaf_factors(self) -> float | NDArray[np.float64]:
        """What the count of each leaf is multiplied by.

        One number, unless regions have ratios of their own.
        """
        known = None if self.scale is None else self.scale.all_records
        if known is None:
            return self.factor
        return self.factor * known.leaf_ratios(self.partition.bounds(), self.domain)

    def scaled(self, scale: Scale) -> "Synopsis":
        """The same release, with its counts scaled.

        It must not be scaled yet.
        """
        scaled = replace(self, scale=scale)
        return replace(scaled, counts=scaled.leaf_factors * self.counts)

    def with_places(self, places: CountedPlaces) -> "Synopsis":
        """The same release, with places that were counted by themselves.

        It must not be scaled yet.
        """
        placed = replace(self, places=places)
        return replace(placed, counts=placed.places_on_tree.added(self.counts))

    @cached_property
    def places_on_tree(self) -> PlacesOnTree:
        """The places on the leaves of the tree around them."""
        assert self.places is not None
        assert isinstance(self.partition, Tree)
        return PlacesOnTree(self.partition, self.places)

    @property
    def around_places(self) -> "Synopsis":
        """The release of all points outside the places.

        It is the release itself where there are no places.
        """
        if self.places is None:
            return self
        return replace(self, counts=self.factor * self._counts_around, places=None)

    @cached_property
    def _counts_around(self) -> NDArray[np.float64]:
        """Unscaled counts of leaves, without the points in places."""
        counts = self.counts / self.factor
        return counts if self.places is None else self.places_on_tree.taken(counts)

    @cached_property
    def kept_share(self) -> KeptShare | None:
        """The share of the records that were kept.

        None where records are protected and all are kept, where users are counted, and where nothing tells it.
        """
        if self.claim.unit == "record" or self.claim.distinct:
            return None
        return KeptShare.told_by(self.claim, self.scale, self.measured_total)

    @cached_property
    def measured_total(self) -> Noisy:
        """The sum of all counts before they are scaled, and the variance of its noise."""
        if self.partition.tiles:
            noise = float(np.square(self.answer(self.domain.bounds).noise_std)) / self.factor**2
        else:
            noise = self.districts.noise_of_all
        return Noisy(value=self.total / self.factor, variance=noise)

    @property
    def total(self) -> float:
        """Estimated number of points in the domain."""
        return float(self.counts.sum())

    def count(self, rects: ArrayLike) -> float | NDArray[np.float64]:
        """Estimated number of points in rectangles.

        Parameters
        ----------
        rects : array_like, shape (n, 4) or (4,)
            West, south, east, north of each. Parts outside the domain count nothing.

        Returns
        -------
        array of float, shape (n,), or one float for one rectangle
        """
        return self._count_region(Rectangles(self.surface, rects, self.domain))

    def answer(self, rects: ArrayLike, *, confidence: float = 0.95) -> Answer:
        """Estimated number of points in rectangles, with intervals.

        Parameters
        ----------
        rects : array_like, shape (n, 4) or (4,)
            West, south, east, north of each. Parts outside the domain count nothing.
        confidence : float
            How often such an interval should hold the true count.
        """
        region = Rectangles(self.surface, rects, self.domain)
        answer = self.answer_region(region, confidence)
        return answer.scalar() if region.is_one else answer

    def count_polygons(self, geometries: Any) -> float | NDArray[np.float64]:
        """Estimated number of points in polygons.

        Parameters
        ----------
        geometries : shapely geometry, sequence or array of them, GeoSeries or GeoDataFrame
            Polygons and multipolygons in the reference system of the domain, unless the frame carries another. Parts
            outside the domain count nothing; rings that cross themselves are repaired.

        Returns
        -------
        array of float, shape (n,), or one float for one geometry
        """
        return self._count_region(Polygons(self.area_surface, geometries))

    @overload
    def answer_polygons(self, geometries: F, *, confidence: float = 0.95, whole: bool = False) -> F: ...
    @overload
    def answer_polygons(self, geometries: Any, *, confidence: float = 0.95, whole: bool = False) -> Answer: ...
    def answer_polygons(self, geometries: Any, *, confidence: float = 0.95, whole: bool = False) -> Any:
        """Estimated number of points in polygons, with intervals.

        Parameters
        ----------
        geometries : shapely geometry, sequence or array of them, GeoSeries or GeoDataFrame
            As for `count_polygons`.
        confidence : float
            How often such an interval should hold the true count.
        whole : bool
            Whether estimates are whole numbers, none negative, that sum to the total of all polygons. They are for
            print, of polygons that do not overlap.

        Returns
        -------
        Answer, or for a GeoDataFrame the same frame with columns ``estimate``, ``low`` and ``high``
        """
        check_confidence(confidence)  # before any work on polygons
        region = Polygons(self.area_surface, geometries)
        answer = self.answer_region(region, confidence)
        if whole:
            answer = answer.in_whole_numbers()
        if is_frame(geometries):
            return geometries.assign(estimate=answer.estimate, low=answer.low, high=answer.high)
        return answer.scalar() if region.is_one else answer

    def _count_region(self, region: Region) -> float | NDArray[np.float64]:
        counts = self.factor * region.counts()
        return float(counts[0]) if region.is_one else counts

    def answer_region(self, region: Region, confidence: float) -> Answer:
        """Answers for all parts of a region, shape (n,)."""
        return self.estimate_region(region, confidence).answer()

    def estimate_region(self, region: Region, confidence: float) -> Estimates:
        """Counts of all parts of a region and their errors, shape (n,)."""
        reach = self.calibration.reach(confidence, region.area_shares())
        noise, spread = (self.factor**2 * variance for variance in region.variances())
        counts, known = self.factor * region.counts(), None if self.scale is None else self.scale.all_records
        if (cumulants := region.cumulants()) is not None:
            placed, fourth = self.factor**2 * cumulants[0], self.factor**4 * cumulants[1]
            return Estimates.with_known_noise(counts, noise, spread, reach, placed, fourth, confidence)
        if known is None:
            return Estimates.of(counts, noise, spread, reach=reach)
        missed = known.variances(counts, self.total)
        return Estimates.of(counts, noise, spread, reach=reach, missed=missed, normal=normal_reach(confidence))

    def table(self, level: str | None = None, *, whole: bool = False, confidence: float = 0.95) -> pa.Table:
        """The named areas of a release, with intervals.

        The columns are name, estimate, low, high and usable, as in `Answer`; areas come in the order of their file.

        Parameters
        ----------
        level : str, optional
            Which level of areas, by default the finest.
        whole : bool
            Whether estimates are whole numbers, none negative, that add up at every level. They are for print: the
            release keeps what was measured.
        confidence : float
            How often an interval should hold the true count.
        """
        return self.districts.table(level, whole=whole, confidence=confidence)

    def total_of(self, names: Sequence[str], *, level: str | None = None, confidence: float = 0.95) -> Answer:
        """Estimated number of points in named areas together.

        Parameters
        ----------
        names : sequence of str
            Areas of any levels, none of which lies in another.
        level : str, optional
            Where to look for them, if a name is one of several levels.
        confidence : float
            How often such an interval should hold the true count.
        """
        return self.districts.total_of([names] if isinstance(names, str) else names, level=level, confidence=confidence)

    @cached_property
    def districts(self) -> Districts:
        """The named areas of the release, or its places."""
        if self.places is None:
            return Districts(self)
        areas, values = self.places.areas, self.places.measurements
        counts = self.factor * self.places.counts
        on_places = replace(self, partition=areas, measurements=values, inference="direct", counts=counts, places=None)
        return Districts(on_places)

    def sample(self, n: int, *, seed: int | None = None, within: Any = None) -> NDArray[np.float64]:
        """Synthetic points that follow the synopsis.

        Every leaf gets its share of the points, and inside it they lie at random, as its density has it. A negative
        count is made up for by its neighbours. Rounding keeps the number of points of every node of a tree, of every
        cell of a grid and of every block of cells that halving the grid makes within one of its share.

        Parameters
        ----------
        n : int
            How many.
        seed : int, optional
            The same points again for the same seed, on any number of threads. What protects people is the release,
            which took none.
        within : shapely geometry, sequence or array of them, GeoSeries or GeoDataFrame, optional
            Polygons that hold all points, as for `count_polygons`. A leaf keeps its points, on the part of it that is
            covered; where that is less than a thousandth, they go to the smallest block around it that has more.

        Returns
        -------
        array of float, shape (n, 2)
            East and north of each.
        """
        from hushgrid.sampling.points import sample  # it imports this type, and few users need it

        return sample(self, n, seed=seed, within=within)

    def cells(self, *, geometry: bool = False) -> pa.Table:
        """A table of all leaf cells and counts.

        It has the bounds, the count and the standard error by noise of every leaf, zeros too, in the order of the
        partition.

        Areas that were given have their names in a first column.

        Parameters
        ----------
        geometry : bool
            Whether a last column has the cells as polygons in well-known binary.
        """
        columns = {**places(self.partition), "count": self.counts, "std_error": np.sqrt(self.variances)}
        return pa.table({**columns, "geometry": shapes(self.partition)} if geometry else columns)

    def save(self, path: str | Path, *, overwrite: bool = False, allow_simulation: bool = False) -> None:
        """Write the synopsis to one GeoParquet file.

        It is written under a temporary name first, so that it appears whole.

        Parameters
        ----------
        path : path
            Where to; a name ending in ``.dp.parquet`` tells readers what they hold.
        overwrite : bool
            Whether a file that exists may be replaced.
        allow_simulation : bool
            Whether a simulated synopsis may be written; its file carries the mark.
        """
        from hushgrid.files.release import write  # it imports this type, and few users need it

        write(self, Path(path), overwrite=overwrite, allow_simulation=allow_simulation)

    def plot(self, ax: "Axes | None" = None, *, title: str | None = None) -> "Axes":
        """Draw a map of the density, with coastlines.

        It shows points per square kilometre on a log scale: fine where the release knows them, smooth where not.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given. To keep it: ``synopsis.plot().figure.savefig("map.png")``.
        title : str, optional
            In place of one that states ε.
        """
        from hushgrid.export.plot import plot  # the one way out of this layer: it only hands the synopsis on

        return plot(self, ax, title=title)

    def map(self, *, title: str | None = None, description: str | None = None) -> "Map":
        """The release as a web page that answers, offline.

        It shows itself in a notebook. ``synopsis.map().save("map.html")`` keeps it, and ``.open()`` shows it in a
        browser.

        Parameters
        ----------
        title : str, optional
            Heading of the page.
        description : str, optional
            What stands below the heading.
        """
        from hushgrid.web.notebook import map_of

        return map_of(self, title=title, description=description)

    def _repr_html_(self) -> str:
        from hushgrid.web.notebook import shown_in_notebook

        return shown_in_notebook(self)

    @cached_property
    def surface(self) -> Surface:
        """The unscaled density, to be summed over rectangles."""
        areas = None if self.places is None else self.area_surface
        return PlacedSurface(areas, self.domain) if isinstance(areas, PlacedAreaSurface) else self._surface_around

    @cached_property
    def _surface_around(self) -> Surface:
        return surface_of(self.evidence, self._counts_around, inference=self.inference)

    @property
    def slopes(self) -> NDArray[np.float64]:
        """Slopes of the density, shape (leaves, 2).

        There is one along x and one along y inside each leaf. The array is empty where the density is flat.
        """
        return slopes_of(self._surface_around)

    @cached_property
    def area_surface(self) -> AreaSurface | PlacedAreaSurface:
        """The unscaled density, to be summed over polygons."""
        around = AreaSurface(self.evidence, self._counts_around, slopes=self.slopes)
        return around if self.places is None else self.places.surface(around, self.places_on_tree.overlap)


def read(path: str | Path) -> Synopsis:
    """Read the synopsis that `Synopsis.save` wrote.

    The counts are those of the file, bit for bit; their variances follow from the measurements. `hushgrid verify`
    tells whether the counts follow from them, too.
    """
    from hushgrid.files.release import open_release

    with open_release(Path(path)) as release:
        return release.synopsis()
