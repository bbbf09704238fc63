"""Write the golden files of this version: ``python -m tests.golden.make_golden``.

Each version of the format adds a folder, made once by the release that introduced it. Files are never rewritten: that
every later version reads them is what the tests here are for. They hold chosen numbers or releases of made-up points,
and no data is behind them. A file that exists is left as it is; those that name an inference of before cannot be made
again.
"""

import json
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import shapely

import hushgrid as hg
from hushgrid import __version__
from hushgrid.answering.areas import area_partition
from hushgrid.files import groups
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.inference.measurements import Measurements, NoisyValues, Regions
from hushgrid.priors.sharpen import sharpened
from hushgrid.release.calibrate import calibrated
from hushgrid.synopsis.claim import Claim, MethodRecord, Size, Spend
from hushgrid.synopsis.synopsis import Synopsis
from tests.plain import UNIT_SQUARE
from tests.priors import PointsPrior, clustered

FOLDER = Path(__file__).parent / __version__


def uniform_grid():
    """Records in degrees, ε = 1/10, a noisy size."""
    grid = Grid(domain=Domain(west=-74.26, south=40.48, east=-73.70, north=40.92), rows=4, columns=5)
    values = np.arange(grid.cells) ** 3 % 101 - 17
    claim = Claim(
        epsilon=Fraction(1, 10),
        spends=(
            Spend(purpose="size", epsilon=Fraction(1, 1000), measured=False),
            Spend(purpose="counts", epsilon=Fraction(99, 1000)),
        ),
        size=Size(source="rows", value=2041),
    )
    return Synopsis.infer(
        grid,
        Measurements.of_leaves(NoisyValues.at_one_rate(values, Fraction(99, 1000))),
        inference="direct",
        claim=claim,
        method=MethodRecord(name="ug", asked="ug", parameters={"side": None, "c": 10.0}),
    )


def adaptive_grid():
    """Users in metres, at most five records each, ε = 2, a public size."""
    domain = Domain(west=570_000.0, south=4_480_000.0, east=610_000.0, north=4_530_000.0, crs="EPSG:32618")
    nested = NestedGrid(grid=Grid(domain=domain, rows=2, columns=3), sides=[1, 3, 2, 1, 4, 1])
    leaves = np.arange(nested.cells) ** 2 % 37 - 5
    cells = np.add.reduceat(leaves, nested.offsets[:-1]) + np.array([3, -11, 0, 7, -2, 4])
    claim = Claim(
        epsilon=Fraction(2),
        unit="user",
        max_per_unit=5,
        spends=(
            Spend(purpose="first level", epsilon=Fraction(1, 10)),
            Spend(purpose="leaves", epsilon=Fraction(3, 10)),
        ),
        size=Size(source="public", value=500),
    )
    return Synopsis.infer(
        nested,
        Measurements(
            leaves=NoisyValues.at_one_rate(leaves, Fraction(3, 10)),
            regions=Regions.between(nested.offsets),
            region_values=NoisyValues.at_one_rate(cells, Fraction(1, 10)),
        ),
        inference="two-level",
        claim=claim,
        method=MethodRecord(
            name="ag", asked="auto", parameters={"first_side": 3, "alpha": "1/4", "c2": 5.0}, notes=("chosen by hand",)
        ),
    )


def clusters():
    """STAQ as it publishes by default, of made-up points, ε = 1, its intervals calibrated."""
    rng = np.random.default_rng(7)
    centres = rng.random((12, 2))
    near = centres[rng.integers(12, size=1100)] + rng.normal(0, 0.02, (1100, 2))
    points = np.concatenate([near, rng.random((400, 2))])
    return hg.publish(points, domain=Domain(west=0, south=0, east=1, north=1), epsilon=1, method="staq")


def fields():
    """STAQ of points that lie evenly, which version 3 of the calibration widens less; ε = 1."""
    points = np.random.default_rng(11).beta(2, 3, (20_000, 2))
    return hg.publish(points, domain=UNIT_SQUARE, epsilon=1, method="staq", max_cells=400)


def sharp_clusters():
    """STAQ sharpened by public points of the same clusters, its intervals calibrated; ε = 1/10."""
    release = hg.publish(
        clustered(5000, seed=0), domain=UNIT_SQUARE, epsilon="0.1", method="staq", calibrate=False, max_cells=400
    )
    return calibrated(sharpened(release, PointsPrior(clustered(20_000, seed=1), licence="CC0-1.0")))


def counties():
    """Areas in two levels, not in the order of the levels, one with a hole, one of two parts; ε = 1."""
    lake = shapely.box(0.6, 0.1, 0.7, 0.2)
    shapes = {
        ("South", "Kent"): shapely.box(0, 0, 0.5, 0.5),
        ("North", "Kent"): shapely.MultiPolygon([shapely.box(0, 0.6, 0.2, 0.8), shapely.box(0.3, 0.6, 0.4, 0.8)]),
        ("South", "Clay"): shapely.box(0.5, 0, 1, 0.5).difference(lake),
        ("Lake", "Lake"): lake,
        ("North", "Polk"): shapely.Polygon([(0.5, 0.5), (1, 0.55), (0.9, 1), (0.55, 0.9)]),
    }
    states, names = zip(*shapes, strict=True)
    domain = Domain(west=0, south=0, east=1, north=1)
    areas = area_partition(list(shapes.values()), names, domain, level="county", coarser={"state": states})
    (state,) = areas.levels
    shares = Fraction(3, 10), Fraction(7, 10)
    return Synopsis.infer(
        areas,
        Measurements(
            leaves=NoisyValues.at_one_rate(np.array([12, 40, -3, 7, 0]), shares[1]),
            regions=Regions.between(state.starts),
            region_values=NoisyValues.at_one_rate(np.array([61, 2, 5]), shares[0]),
        ),
        inference="least-squares",
        claim=Claim(epsilon=Fraction(1), spends=tuple(Spend(purpose="counts", epsilon=share) for share in shares)),
        method=MethodRecord(name="areas", asked="areas", parameters={"sha256": "0" * 64}),
    )


def kinds():
    """Slices by kind, of made-up points by STAQ, sharpened by their total; ε = 1."""
    rng = np.random.default_rng(9)
    points = clustered(3000, seed=3)
    table = pa.table(
        {"lon": points[:, 0], "lat": points[:, 1], "kind": rng.choice(["car", "bike", "bus"], len(points))}
    )
    by = hg.By("kind", values=["bike", "car"], other=True)
    return hg.publish(table, domain=UNIT_SQUARE, epsilon=1, method="staq", max_cells=200, by=by)


def facts(release):
    """What must be found in the file of a release for ever."""
    if isinstance(release, hg.Slices):
        parts = {name or "": facts(part) for name, part in release.all_parts()}
        return {"by": release.by.to_dict(), "names": list(release.names), "parts": parts}
    return facts_of_one(release)


def facts_of_one(synopsis):
    """The facts of one synopsis."""
    partition = synopsis.partition
    in_levels = [] if partition.tiles else [[*synopsis.districts.answers(level)[0]] for level in partition.level_names]
    return {
        **({"prior": synopsis.prior.leaves.tolist()} if synopsis.prior is not None else {}),
        **({"levels": dict(zip(partition.level_names, in_levels, strict=True))} if in_levels else {}),
        "epsilon": str(synopsis.claim.epsilon),
        "unit": synopsis.claim.unit,
        "method": synopsis.method.name,
        "crs": synopsis.partition.domain.crs,
        "bounds": synopsis.partition.bounds().tolist(),
        "measured": synopsis.measurements.leaves.values.tolist(),
        "regions": synopsis.measurements.region_values.values.tolist(),
        "counts": synopsis.counts.tolist(),
        "variances": synopsis.variances.tolist(),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, make in {
        "ug": uniform_grid,
        "ag": adaptive_grid,
        "staq-belief": clusters,
        "staq-belief-2": clusters,
        "staq-belief-prior": sharp_clusters,
        "staq-calibration-3": fields,
        "areas-in-levels": counties,
        "slices": kinds,
        "ug-schema-2": uniform_grid,
        "ag-schema-2": adaptive_grid,
        "areas-in-levels-schema-2": counties,
    }.items():
        if not (path := FOLDER / f"{name}.dp.parquet").exists():
            synopsis = make()
            with patch.object(groups, "ROWS_PER_GROUP", 250):  # several groups, though files are small
                synopsis.save(path)
            (FOLDER / f"{name}.json").write_text(json.dumps(facts(synopsis)) + "\n")
