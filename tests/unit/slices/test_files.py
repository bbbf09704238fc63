"""Slices in one file: read back bit for bit, verified, and filtered by other programs."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from hushgrid.errors import ArgumentError, SynopsisFileError
from hushgrid.geometry.grid import Grid
from hushgrid.priors.sharpen import sharpened
from hushgrid.release.calibrate import calibrated
from hushgrid.slices.files import parse_slices, write_slices_to
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.claim import LedgerMark
from hushgrid.synopsis.synopsis import read
from tests.priors import PointsPrior, clustered
from tests.slices import KINDS, PARTITIONS, SQUARE, some_slices
from tests.synopses import synopsis_on
from tests.tampering import tamper


def saved(slices, folder):
    """The file of slices."""
    path = folder / "x.dp.parquet"
    slices.save(path, allow_simulation=True)
    return path


def assert_same(one, other):
    """Two releases that are the same, to the bit."""
    assert one.partition == other.partition
    assert (one.claim, one.method, one.calibration, one.scale, one.ledger, one.inference) == (
        *(other.claim, other.method, other.calibration, other.scale, other.ledger, other.inference),
    )
    for name in ("counts", "variances"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for measured in ("leaves", "region_values"):
        mine, others = (getattr(each.measurements, measured) for each in (one, other))
        np.testing.assert_array_equal(mine.values, others.values)
        assert [mine.rates[index] for index in mine.rate_index if index >= 0] == [
            others.rates[index] for index in others.rate_index if index >= 0
        ]


@pytest.mark.parametrize("total", [True, False])
@pytest.mark.parametrize("kind", PARTITIONS)
def test_slices_come_back(kind, total, tmp_path):
    """Every part, and what the slices are."""
    slices = some_slices(kind, total=total)
    found = hg.read(saved(slices, tmp_path))

    assert isinstance(found, Slices)
    assert found.by == slices.by
    for (name, one), (again, other) in zip(slices.all_parts(), found.all_parts(), strict=True):
        assert name == again
        assert_same(one, other)


@pytest.mark.parametrize("kind", PARTITIONS)
def test_every_slice_is_verified(kind, tmp_path):
    """The same checks as of one release, each of all slices."""
    checks = {check.name: check for check in hg.verify(saved(some_slices(kind), tmp_path)).checks}

    assert all(check.ok for check in checks.values())
    assert {"spends", "rates", "counts", "standard errors", "bounds", "polygons", "boxes", "calibration"} <= set(checks)


def sharp_slices():
    """Two slices with a prior, one of them with evidence of it in its cells, and the other without."""
    release = hg.publish(
        clustered(5000, seed=0), domain=SQUARE, epsilon="0.1", method="staq", calibrate=False, max_cells=300
    )
    sharp = sharpened(release, PointsPrior(clustered(20_000, seed=1), licence="CC0-1.0"))
    assert sharp.prior.used
    mark = LedgerMark(dataset="trips", entry=3, head="ab")
    by = hg.By("kind", values=["a", "b"])
    return Slices(by=by, parts={"a": replace(calibrated(sharp), ledger=mark), "b": release})


def test_slices_with_and_without_a_prior(tmp_path):
    """The column of evidence is null in the rows of slices that have none."""
    slices = sharp_slices()
    path = saved(slices, tmp_path)
    found, column = hg.read(path), pq.read_table(path)["prior"]

    np.testing.assert_array_equal(found["a"].prior.leaves, slices["a"].prior.leaves)
    assert found["b"].prior is None
    assert column.null_count == slices["b"].partition.cells
    for name in slices:
        assert_same(slices[name], found[name])
    assert hg.verify(path).ok


def test_rows_are_those_of_each_slice(tmp_path):
    """By name, with the slice and the columns of a release."""
    slices = some_slices()
    path = saved(slices, tmp_path)
    slices["bike"].save(tmp_path / "bike.dp.parquet")
    rows, alone = pq.read_table(path), pq.read_table(tmp_path / "bike.dp.parquet")
    bikes = rows.filter(pc.equal(rows["slice"], "bike"))

    for name in alone.column_names:
        assert bikes[name].to_pylist() == alone[name].to_pylist(), name
    order = dict.fromkeys(rows["slice"].to_pylist())
    assert list(order) == ["=bus", "bike", "car", None]


def test_structures_that_slices_share_are_kept_once(tmp_path):
    """All slices on one grid, or on one set of areas."""
    for kind, number in {"areas": 1, "nested": 3}.items():
        path = tmp_path / f"{kind}.dp.parquet"
        some_slices(kind).save(path)
        footer = pq.read_metadata(path).metadata

        assert len(json.loads(footer[b"hushgrid"])["structures"]) == number
        assert sum(key.startswith(b"hushgrid:structure:") for key in footer) == number


def test_groups_of_rows_tell_slices_and_places_apart(tmp_path):
    """Statistics say which slices and which place are where, so that readers skip by either."""
    by = hg.By("kind", values=list("fbadce"))
    grid = Grid(domain=SQUARE, rows=100, columns=100)
    slices = Slices(by=by, parts={name: synopsis_on(grid, epsilon=Fraction(1)) for name in by.names})
    path = saved(slices, tmp_path)
    parquet = pq.read_metadata(path)
    ranges = []
    for group in map(parquet.row_group, range(parquet.num_row_groups)):
        chunks = {chunk.path_in_schema: chunk.statistics for chunk in map(group.column, range(group.num_columns))}
        of_slices, south, north = (chunks[name] for name in ("slice", "bbox.ymin", "bbox.ymax"))
        ranges.append((of_slices.min, of_slices.max, south.min, north.max))

    assert ranges == [(*pair, *half) for pair in ("ab", "cd", "ef") for half in ((0, 0.5), (0.5, 1))]
    for (name, one), (_, other) in zip(slices.all_parts(), hg.read(path).all_parts(), strict=True):
        assert_same(one, other)
        assert name is not None
    assert hg.verify(path).ok


def test_a_small_file_is_one_group(tmp_path):
    """However many slices it has."""
    assert pq.read_metadata(saved(some_slices("grid"), tmp_path)).num_row_groups == 1


def test_other_programs_filter_slices_and_places(tmp_path):
    """DuckDB by slice, GeoPandas by the covering box."""
    duckdb, geopandas = pytest.importorskip("duckdb"), pytest.importorskip("geopandas")
    slices = some_slices("grid")
    path = saved(slices, tmp_path)
    (total,) = duckdb.sql(f"select sum(count) from '{path}' where slice = 'bike'").fetchall()[0]
    near = geopandas.read_parquet(path, bbox=(0.01, 0.01, 0.02, 0.02))

    assert total == pytest.approx(slices["bike"].total)
    assert len(near) == 4
    assert near["slice"].isna().sum() == 1


def test_the_same_slices_make_the_same_bytes():
    """No time, no path, no order of a dictionary."""
    first, second = pa.BufferOutputStream(), pa.BufferOutputStream()
    for out in (first, second):
        write_slices_to(some_slices(), out)
    content = first.getvalue().to_pybytes()

    assert content == second.getvalue().to_pybytes()
    assert parse_slices(content, name="it").names == KINDS.names


def test_simulations_carry_their_mark(tmp_path):
    """They are written only if asked for, and say what they are."""
    points = np.random.default_rng(1).random((100, 2))
    part = hg.publish(points, domain=SQUARE, epsilon=1, method="uniform", rng=hg.simulation_rng(1))
    slices = Slices(by=hg.By("kind", values=["a"]), parts={"a": part})
    with pytest.raises(ArgumentError, match="not a release"):
        slices.save(tmp_path / "y.dp.parquet")

    assert hg.read(saved(slices, tmp_path)).simulation


def test_readers_of_one_release_say_what_they_got(tmp_path):
    """In one sentence that says how to open it."""
    path = saved(some_slices(), tmp_path)
    with pytest.raises(SynopsisFileError, match=r"holds several slices.*hushgrid\.read"):
        read(path)
    with pytest.raises(SynopsisFileError, match="holds several slices"):
        hg.Series([path])


def test_changed_counts_are_found_in_their_slice(tmp_path):
    """Verify names the slice."""
    path = saved(some_slices("grid"), tmp_path)
    counts = pq.read_table(path)["count"].to_numpy().copy()
    counts[8] += 1
    tamper(path, columns={"count": counts})
    checks = {check.name: check for check in hg.verify(path).checks}

    assert not checks["counts"].ok
    assert "slice 'bike': cell 2" in checks["counts"].detail
    assert checks["bounds"].ok


def test_changed_boxes_are_found(tmp_path):
    """A covering that leads readers astray."""
    path = saved(some_slices("grid"), tmp_path)
    boxes = pq.read_table(path)["bbox"].to_pylist()
    boxes[3]["xmax"] = 0.75
    tamper(path, columns={"bbox": boxes})

    (failed,) = (check for check in hg.verify(path).checks if not check.ok)
    assert failed.name == "boxes"
    assert failed.detail == "slice '=bus': cell 3 does not follow from the structure"


def test_a_claim_that_the_noise_does_not_bear_out(tmp_path):
    """Of one slice, and of the total."""
    for place in ("slices", "total"):
        path = tmp_path / f"{place}.dp.parquet"
        some_slices("grid").save(path)

        def cheapen(release, place=place):
            part = release["total"] if place == "total" else release["slices"][1]
            part["claim"]["epsilon"] = "1/100"

        tamper(path, edit=cheapen)
        failed = {check.name: check.detail for check in hg.verify(path).checks if not check.ok}
        assert set(failed) == {"spends", "rates"}
        assert failed["spends"].startswith("total:" if place == "total" else "slice 'bike':")
