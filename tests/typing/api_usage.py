"""What users write, with the types that a checker must see. Never run; see test_api.py."""

import warnings
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, assert_type

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

import hushgrid as hg
from hushgrid.counting.counter import Counter
from hushgrid.export.statement import Statement
from hushgrid.files.verify import Verification
from hushgrid.geometry.partition import Structure
from hushgrid.methods.method import ListedMethod, Method
from hushgrid.planning.levels import LevelsPlan
from hushgrid.planning.look import TrueLook
from hushgrid.privacy.bits import SimulatedBits
from hushgrid.privacy.budget import Budget
from hushgrid.synopsis.claim import Claim, MethodRecord

Floats = NDArray[np.float64]


def domains() -> None:
    """A public rectangle."""
    domain = hg.Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
    assert_type(domain.bounds, tuple[float, float, float, float])
    assert_type(domain.width, float)
    assert_type(domain.height, float)
    assert_type(domain.crs, str)
    assert_type(domain.is_geographic, bool)
    assert_type(hg.Domain.parse("-126,17,-66,57"), hg.Domain)
    hg.Domain(west=0, south=0, east=3000, north=2000, crs="EPSG:3857")


def points(domain: hg.Domain) -> None:
    """A path, arrays, any frame."""
    assert_type(hg.publish("trips.parquet", domain=domain, epsilon=1.0), hg.Synopsis)
    hg.publish(Path("trips.csv"), domain=domain, epsilon="0.5", lon="x", lat="y", crs="EPSG:4326")
    hg.publish("trips.csv", domain=domain, epsilon=1, delimiter=";", decimal=",")
    hg.publish("trips.csv", domain=domain, epsilon=1, prior=Path("homes.geojson"), prior_weight="people")
    hg.publish(np.zeros((10, 2)), domain=domain, epsilon=Fraction(1, 3))
    hg.publish((np.zeros(10), np.zeros(10)), domain=domain, epsilon=Decimal("0.1"))
    hg.publish([[0.2, 0.7], [0.4, 0.6]], domain=domain, epsilon=1)
    hg.publish({"lon": [0.2], "lat": [0.7]}, domain=domain, epsilon=1, public_size=1000, size_from="domain")
    hg.publish(
        "homes.parquet",
        domain=domain,
        epsilon=1,
        geometry="geometry",
        size_share=0.02,
        max_cells=2**22,
        aim=None,
        calibrate=False,
    )


def methods(domain: hg.Domain) -> None:
    """A name, or one with parameters."""
    hg.publish("trips.parquet", domain=domain, epsilon=1, method="ag")
    hg.publish("trips.parquet", domain=domain, epsilon=1, method=hg.AdaptiveGrid(alpha=0.25, smooth=True))
    hg.publish("trips.parquet", domain=domain, epsilon=1, method=hg.UniformGrid(side=64))
    hg.publish("trips.parquet", domain=domain, epsilon=1, method=hg.Staq(inference="bayes"))
    districts = hg.Areas([], names=["north", "south"])
    assert_type(districts.domain(), hg.Domain)
    hg.publish("trips.parquet", domain=domain, epsilon=1, method=hg.Areas.h3(8))
    hg.publish("trips.parquet", domain=domain, epsilon=1, method=hg.Areas.h3(5, 8, domain=domain, shares=["0.2", 0.8]))
    hg.publish("trips.parquet", domain=districts.domain(), epsilon=1, method=districts)
    assert_type(hg.METHODS, Mapping[str, type[ListedMethod]])
    for name, kind in hg.METHODS.items():
        assert_type(name, str)
        assert_type(kind(), ListedMethod)


def options(domain: hg.Domain, told: Callable[[float], None]) -> None:
    """Users, totals, the ledger, progress, simulations."""
    hg.publish(
        "trips.parquet",
        domain=domain,
        epsilon=1,
        user="rider",
        max_per_user=10,
        missing_user="own",
        scale_to_total="private",
        max_for_total=100,
        kept_share=False,
        estimate="kept-records",
    )
    hg.publish(np.zeros((3, 2)), domain=domain, epsilon=1, user=["a", "b", "a"], max_per_user=1, scale_to_total=3)
    hg.publish(
        "trips.parquet",
        domain=domain,
        epsilon=1,
        user="rider",
        max_per_user=2,
        method=hg.UniformGrid(side=8),
        distinct=True,
    )
    hg.publish(
        "trips.parquet", domain=domain, epsilon=1, ledger=Path("hushgrid.ledger"), dataset="trips", new_release=True
    )
    hg.publish("trips.parquet", domain=domain, epsilon=1, ledger="hushgrid.ledger", dataset="trips", resume=1)
    hg.publish("trips.parquet", domain=domain, epsilon=1, user="id", max_per_user=2, estimate="all-records")
    kinds = hg.By("kind", values=["car", "bike"], other=True)
    hours = hg.By.time("started_at", "hour", timezone="America/New_York")
    assert_type(hg.publish("trips.parquet", domain=domain, epsilon=1, by=kinds), hg.Slices)
    assert_type(hg.publish("trips.parquet", domain=domain, epsilon=1, by=[kinds, hours], method="ag"), hg.Slices)
    assert_type(hg.publish("trips.parquet", domain=domain, epsilon=1, by=None), hg.Synopsis)
    hg.publish(
        "trips.parquet",
        domain=domain,
        epsilon=1,
        period="2026-03",
        time="started_at",
        timezone="Europe/Paris",
        dataset="trips",
        series=True,
    )
    assert_type(hg.simulation_rng(1), SimulatedBits)
    hg.publish([[0.5, 0.5]], domain=domain, epsilon=1, rng=hg.simulation_rng(np.int64(1)), progress=told)


def synopses() -> None:
    """Everything that can be asked of one."""
    synopsis = hg.read("trips.dp.parquet")
    assert_type(synopsis, hg.Synopsis | hg.Slices)
    assert isinstance(synopsis, hg.Synopsis)
    assert_type(synopsis.count([-74.02, 40.70, -73.93, 40.80]), float | Floats)
    assert_type(synopsis.count(np.zeros((5, 4))), float | Floats)
    assert_type(synopsis.count_polygons([]), float | Floats)
    assert_type(synopsis.answer([-74.02, 40.70, -73.93, 40.80], confidence=0.9), hg.Answer)
    assert_type(synopsis.answer_polygons([], confidence=0.9), hg.Answer)
    assert_type(synopsis.answer_polygons([], whole=True), hg.Answer)
    assert_type(synopsis.sample(1000, seed=3), Floats)
    assert_type(synopsis.domain, hg.Domain)
    assert_type(synopsis.partition, Structure)
    assert_type(synopsis.counts, Floats)
    assert_type(synopsis.variances, Floats)
    assert_type(synopsis.claim, Claim)
    assert_type(synopsis.claim.epsilon, Fraction)
    assert_type(synopsis.method, MethodRecord)
    assert_type(synopsis.simulation, bool)
    assert_type(synopsis.total, float)
    synopsis.cells().to_pandas()
    assert_type(synopsis.plot(title="Trips"), Axes)
    synopsis.save(Path("trips.dp.parquet"), overwrite=True)
    synopsis.save("experiment.dp.parquet", allow_simulation=True)


def slices(hours: hg.Slices) -> None:
    """One release a slice."""
    assert_type(hours["07"], hg.Synopsis)
    assert_type(hg.describe(hours), hg.SlicesDescription)
    assert_type(hours.total, hg.Synopsis | None)
    assert_type(hours.names, tuple[str, ...])
    assert_type(hours.by, hg.By)
    assert_type(hours.answer([-74.02, 40.70, -73.93, 40.80]), hg.Answer)
    assert_type(hours.answer(np.zeros((5, 4)), slices=["07", "08"], confidence=0.9), hg.Answer)
    assert_type(hours.answer_polygons([], slices="07"), hg.Answer)
    hours.cells().to_pandas()
    hours.sample(1000, seed=3).to_pandas()
    hours.save(Path("hours.dp.parquet"), overwrite=True)


def answers(synopsis: hg.Synopsis) -> None:
    """An estimate and its interval."""
    answer = synopsis.answer(np.zeros((5, 4)))
    assert_type(answer.estimate, float | Floats)
    assert_type(answer.low, float | Floats)
    assert_type(answer.high, float | Floats)
    assert_type(answer.noise_std, float | Floats)
    assert_type(answer.spread_std, float | Floats)
    assert_type(answer.usable, bool | NDArray[np.bool_])
    assert_type(f"{answer.estimate:,.0f}, between {answer.low:,.0f} and {answer.high:,.0f}", str)


def changes(before: hg.Synopsis, after: hg.Synopsis) -> None:
    """What changed between two releases."""
    change = hg.compare(before, after, rate=0.1, correction="holm")
    assert_type(change, hg.Change)
    assert_type(change.caveats(), tuple[str, ...])
    assert_type(hg.compare("before.dp.parquet", "after.dp.parquet").answer([0, 0, 1, 1]), hg.Difference)
    series = hg.Series({"2026-01": before, "2026-02": "after.dp.parquet"})
    assert_type(series["2026-01"], hg.Synopsis)
    assert_type(series.answer([0, 0, 1, 1], confidence=0.9), hg.OverTime)
    assert_type(series.lifetime, Fraction)
    assert_type(series.everyone, str)
    assert_type(series.last, hg.Synopsis)
    found = change.answer_polygons([])
    assert_type(found.difference, float | Floats)
    assert_type(found.significant, bool | NDArray[np.bool_])
    assert_type(found.sentence("county"), str)
    change.table(level="state"), change.grid(50)


def dry_runs(domain: hg.Domain) -> None:
    """What a release would be, before anything is read."""
    found = hg.check("trips.csv", domain=domain, epsilon=1, user="who", max_per_user=5, points_about=10_000)
    assert_type(found, hg.DryRun)
    assert_type(found.ok, bool)
    assert_type(found.problems, tuple[hg.HushgridError, ...])
    assert_type(found.true_look, TrueLook | None)
    hg.check("trips.csv", domain=domain, epsilon=1, ledger="my.ledger", dataset="trips", output=Path("a.parquet"))


def plans(domain: hg.Domain) -> None:
    """Before any data is touched."""
    expected = hg.plan(domain, points_about=50_000, epsilon=1, max_per_user=4)
    assert_type(expected, hg.Plan)
    assert_type(expected.yardstick.relative_reach, float)
    assert_type(expected.to_dict(), dict[str, Any])
    assert_type(hg.plan(domain, points_about=50_000, accuracy=0.05).epsilon, Fraction)
    assert_type(hg.plan(areas=hg.Areas([], names=[]), epsilon="0.5"), LevelsPlan)


def papers(synopsis: hg.Synopsis) -> None:
    """What a release promises, whether it contradicts itself, and a page to sign."""
    assert_type(hg.describe(synopsis), hg.Description)
    assert_type(hg.describe("trips.dp.parquet").to_dict(), dict[str, Any])
    verification = hg.verify(Path("trips.dp.parquet"))
    assert_type(verification, Verification)
    assert_type(verification.ok, bool)
    statement = hg.manifest("trips.dp.parquet", publisher="City", language="de", ledger="city.ledger", dataset="trips")
    assert_type(statement, Statement)
    assert_type(statement.to_html(), str)
    statement.save(Path("statement.html"), overwrite=True)


class Mine:
    """A method of one's own: no base class is asked for."""

    name: ClassVar[str] = "mine"

    def release(self, counter: Counter, budget: Budget) -> hg.Synopsis:
        """Publish."""
        return hg.UniformGrid(side=8).release(counter, budget)


def own_method(domain: hg.Domain) -> None:
    """Published like any other."""
    method: Method = Mine()
    hg.publish("trips.parquet", domain=domain, epsilon=1, method=method)


def errors() -> None:
    """What can go wrong."""
    try:
        hg.read("missing.dp.parquet")
    except (hg.SynopsisFileError, hg.InputError) as damaged:
        assert_type(damaged.exit_code, int)
    except (hg.ArgumentError, hg.MissingExtraError, hg.BudgetError, hg.LedgerError, hg.EngineError) as refused:
        assert_type(str(refused), str)
    except hg.HushgridError as other:
        assert_type(other.exit_code, int)
    warnings.simplefilter("error", hg.HushgridWarning)
    assert_type(hg.__version__, str)
