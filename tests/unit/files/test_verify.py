"""Whether files that contradict themselves are told from those that do not."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushgrid.errors import SynopsisFileError
from hushgrid.files import groups
from hushgrid.files.release import COLUMNS
from hushgrid.files.tables import REGION_SCHEMA, measurement_table, pack
from hushgrid.files.verify import verify_file
from hushgrid.inference.measurements import Measurements, NoisyValues
from hushgrid.synopsis.cells import polygons
from hushgrid.synopsis.claim import Claim, Size, Spend
from hushgrid.synopsis.synopsis import Synopsis
from tests.tampering import tamper

CHECKS = ["release", "spends", "size", "rates", "counts", "standard errors"]
CHECKS += ["bounds", "polygons", "boxes", "geo metadata"]


def failures(path):
    """Names of the checks that fail."""
    return {check.name for check in verify_file(path).checks if not check.ok}


def changed(values, cell, change):
    """A copy of a column with one cell changed."""
    copy = np.array(values).copy()
    copy[cell] += change
    return copy


def test_what_was_saved_is_consistent(synopsis, path):
    """Every check passes, and says what it found."""
    synopsis.save(path)
    verification = verify_file(path)

    assert verification.ok
    assert [check.name for check in verification.checks] == CHECKS
    assert all(check.detail for check in verification.checks)


def test_every_row_group_is_looked_at(on_nested, path, monkeypatch):
    """A wrong count in the last part of a file is found, and its cell named."""
    monkeypatch.setattr(groups, "ROWS_PER_GROUP", 4)
    replace(on_nested, counts=changed(on_nested.counts, 14, 1)).save(path)

    assert "cell 14 " in next(check.detail for check in verify_file(path).checks if check.name == "counts")


@pytest.mark.parametrize("column", ["count", "std_error", "west", "south", "east", "north"])
def test_one_wrong_number_is_noticed(synopsis, path, column):
    """A number that does not follow from the measurements or the structure fails its own check, and no other."""
    synopsis.save(path)
    tamper(path, columns={column: changed(pq.read_table(path)[column], 3, 1e-6)})
    names = {"count": "counts", "std_error": "standard errors"}

    assert failures(path) == {names.get(column, "bounds")}


@pytest.mark.parametrize("corner", ["xmin", "ymin", "xmax", "ymax"])
@pytest.mark.parametrize("wrong", [-74.2, np.nan])
def test_a_changed_box_is_noticed(synopsis, path, corner, wrong):
    """A covering that is not around its cell would lead readers astray."""
    synopsis.save(path)
    boxes = pq.read_table(path)["bbox"].to_pylist()
    boxes[3][corner] = wrong
    tamper(path, columns={"bbox": boxes})

    assert failures(path) == {"boxes"}


def test_a_covering_that_is_not_named_is_noticed(on_grid, path):
    """Readers would not use the boxes, though they are there."""
    on_grid.save(path)
    geo = json.loads(pq.read_metadata(path).metadata[b"geo"])
    del geo["columns"]["geometry"]["covering"]
    tamper(path, keys={"geo": json.dumps(geo)})

    assert failures(path) == {"geo metadata"}


def test_rounding_of_other_machines_is_no_contradiction(synopsis, path):
    """Counts may differ in their last digits, and in no more."""
    synopsis.save(path)
    counts = pq.read_table(path)["count"].to_numpy()

    tamper(path, columns={"count": counts * (1 + 1e-12)})
    assert failures(path) == set()
    tamper(path, columns={"count": counts * (1 + 1e-7)})
    assert failures(path) == {"counts"}


@pytest.mark.parametrize("cell", [0, 7])
def test_a_changed_measurement_is_noticed(synopsis, path, cell):
    """Counts no longer follow from measurements of leaves that were changed."""
    synopsis.save(path)
    tamper(path, columns={"measured": changed(synopsis.measurements.leaves.values, cell, 1)})

    assert failures(path) == {"counts"}


def test_a_changed_measurement_of_a_region_is_noticed(on_nested, path):
    """Counts follow from the first level, too."""
    on_nested.save(path)
    table = measurement_table(on_nested.measurements)
    values = pa.array(changed(table["value"], 2, 5))
    tamper(path, keys={"hushgrid:measurements": pack(table.set_column(0, REGION_SCHEMA.field("value"), values))})

    assert failures(path) == {"counts"}


def test_changed_rates_are_noticed(on_grid, path):
    """Less noise than the claim says costs more privacy than it says."""
    on_grid.save(path)
    tamper(path, columns={"rate": ["2"] * 12})

    assert failures(path) == {"rates", "standard errors"}


@pytest.mark.parametrize("epsilon", ["1/2", "2", "1000001/1000000"])
def test_changed_claims_are_noticed(synopsis, path, epsilon):
    """A claim is exactly what was spent, and what the noise is worth."""
    synopsis.save(path)
    tamper(path, edit=lambda release: release["claim"].update(epsilon=epsilon))

    assert failures(path) == {"spends", "rates"}


def test_changed_spends_are_noticed(on_nested, path):
    """The spends add up to the claim."""
    on_nested.save(path)
    tamper(path, edit=lambda release: release["claim"]["spends"].pop())

    assert failures(path) == {"spends"}


@pytest.mark.parametrize("box", [[-74.3, 40, -73, 41], [-74.26, 40.48, -74.1, 40.6]])
def test_changed_polygons_are_noticed(on_grid, path, box):
    """Maps show what the structure says."""
    on_grid.save(path)
    bounds = on_grid.partition.bounds()
    bounds[5] = box
    tamper(path, columns={"geometry": polygons(bounds)})

    assert failures(path) == {"polygons"}


def test_polygons_of_other_lengths_are_noticed(on_grid, path):
    """A polygon of other corners, or none, is wrong."""
    on_grid.save(path)
    stored = pq.read_table(path)["geometry"].to_pylist()
    tamper(path, columns={"geometry": [*stored[:-1], b""]})

    assert failures(path) == {"polygons"}


def test_a_moved_map_is_noticed(on_grid, path):
    """What map software is told agrees with the domain."""
    on_grid.save(path)
    geo = json.loads(pq.read_metadata(path).metadata[b"geo"])
    geo["columns"]["geometry"]["bbox"][0] -= 1

    for text in (json.dumps(geo), None):
        tamper(path, keys={"geo": text})
        assert failures(path) == {"geo metadata"}


def test_a_moved_domain_is_noticed(synopsis, path):
    """Bounds, polygons and what map software is told all contradict another domain."""
    synopsis.save(path)
    tamper(path, edit=lambda release: release["domain"].update(west=-74.27))

    assert failures(path) == {"bounds", "polygons", "boxes", "geo metadata"}


def test_simulations_are_no_releases(on_grid, path):
    """A simulated file is named as such, whatever else is right."""
    simulated = replace(on_grid, claim=replace(on_grid.claim, simulation=True))
    simulated.save(path, allow_simulation=True)

    assert failures(path) == {"release"}
    assert not verify_file(path).ok


def sized(synopsis, *, source, size_spend, unit="record", max_per_unit=1):
    """A synopsis on the same grid, of ε = 1 for each record, with a size and what was spent on it."""
    rate = 1 - (size_spend or Fraction(0))
    spends = [Spend(purpose="counts", epsilon=rate)]
    if size_spend:
        spends.insert(0, Spend(purpose="size", epsilon=size_spend, measured=False))
    claim = Claim(
        epsilon=Fraction(max_per_unit),
        unit=unit,
        max_per_unit=max_per_unit,
        spends=tuple(spends),
        size=None if source is None else Size(source=source, value=1000),
    )
    measurements = Measurements.of_leaves(NoisyValues.at_one_rate(synopsis.measurements.leaves.values, rate))
    return Synopsis.infer(synopsis.partition, measurements, inference="direct", claim=claim, method=synopsis.method)


@pytest.mark.parametrize(
    ("source", "size_spend", "failed"),
    [
        ("rows", Fraction(1, 100), set()),
        ("domain", Fraction(1, 100), set()),
        ("public", None, set()),
        (None, None, set()),
        ("rows", None, {"size"}),
        ("public", Fraction(1, 100), {"size"}),
    ],
)
def test_a_noisy_size_is_paid_for(on_grid, path, source, size_spend, failed):
    """A size from the data has cost budget; one that is public knowledge has not."""
    sized(on_grid, source=source, size_spend=size_spend).save(path)

    assert failures(path) == failed


def test_users_pay_for_all_their_records(on_grid, path):
    """With ten records a user, noise worth 1 for a record is worth 10 for a user."""
    sized(on_grid, source="rows", size_spend=Fraction(1, 100), unit="user", max_per_unit=10).save(path)
    assert failures(path) == set()

    tamper(path, edit=lambda release: release["claim"].update(max_per_unit=11))
    assert failures(path) == {"spends", "rates"}


def test_damaged_polygons_cannot_be_verified(on_grid, path):
    """Verifying reads every byte of the rows, and what cannot be read is an error."""
    on_grid.save(path)
    chunk = pq.read_metadata(path).row_group(0).column(COLUMNS.get_field_index("geometry"))
    damaged = bytearray(path.read_bytes())
    damaged[chunk.data_page_offset + chunk.total_compressed_size - 9] ^= 0xFF
    path.write_bytes(damaged)

    with pytest.raises(SynopsisFileError, match="damaged"):
        verify_file(path)


def test_a_missing_file_cannot_be_verified(path):
    """There is nothing to be said about it."""
    with pytest.raises(SynopsisFileError, match="does not exist"):
        verify_file(path)
