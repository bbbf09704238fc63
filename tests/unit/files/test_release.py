"""The release file: what is written is read, by us and by others, and damage is noticed."""

import getpass
import json
import socket
from dataclasses import replace
from fractions import Fraction

import duckdb
import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from hushgrid.errors import ArgumentError, SynopsisFileError
from hushgrid.files import groups
from hushgrid.files.release import COLUMNS
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from hushgrid.inference.measurements import Measurements, NoisyValues
from hushgrid.synopsis.claim import Claim, MethodRecord
from hushgrid.synopsis.synopsis import Synopsis, read
from tests.synopses import synopsis_on
from tests.tampering import tamper


def statistics_of(group):
    """Statistics of the columns of a group of rows that have any, by name."""
    chunks = map(group.column, range(group.num_columns))
    return {chunk.path_in_schema: chunk.statistics for chunk in chunks if chunk.statistics is not None}


def assert_same(left, right):
    """Two synopses hold the same, to the bit."""
    for name in ("counts", "variances"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
    for part in ("leaves", "region_values"):
        for name in ("values", "variances", "rate_index"):
            ours, theirs = (getattr(getattr(one.measurements, part), name) for one in (left, right))
            np.testing.assert_array_equal(ours, theirs)
    for name in ("partition", "inference", "claim", "method"):
        assert getattr(left, name) == getattr(right, name)


def test_read_undoes_save(synopsis, path):
    """Nothing is lost, and nothing is rounded."""
    synopsis.save(path)

    assert_same(read(path), synopsis)


def test_read_undoes_save_over_many_row_groups(synopsis, path, monkeypatch):
    """Rows keep their order when they are written in parts."""
    monkeypatch.setattr(groups, "ROWS_PER_GROUP", 4)
    synopsis.save(path)
    parquet = pq.read_metadata(path)

    assert parquet.num_row_groups >= -(-synopsis.partition.cells // 4)
    assert all(parquet.row_group(group).num_rows <= 4 for group in range(parquet.num_row_groups))
    assert_same(read(path), synopsis)


def test_arrays_of_a_file_are_like_others(on_nested, path):
    """Kernels are compiled once, not again for arrays that are read-only."""
    on_nested.save(path)
    back = read(path)
    measurements = back.measurements
    measured = [
        array for part in (measurements.leaves, measurements.region_values) for array in (part.values, part.rate_index)
    ]

    for array in (back.counts, back.variances, measurements.regions.first, measurements.regions.stop, *measured):
        assert array.flags.writeable
        assert array.flags.c_contiguous


def test_one_cell_is_enough(path):
    """The smallest partition is a partition."""
    synopsis = synopsis_on(Grid(domain=Domain(west=0, south=0, east=1, north=1), rows=1, columns=1), values=[-(2**62)])
    synopsis.save(path)

    assert_same(read(path), synopsis)


def test_a_synopsis_from_a_file_answers_alike(synopsis, path):
    """Estimates and intervals are the same after reading."""
    synopsis.save(path)
    rects = [[-74.2, 40.5, -74.0, 40.8], [-80, 30, -73.9, 40.7]]

    for name, values in vars(synopsis.answer(rects)).items():
        np.testing.assert_array_equal(values, getattr(read(path).answer(rects), name))


def test_reading_keeps_the_stored_counts(on_grid, path):
    """Whoever reads sees the counts of the file; whether they are right is for verify to say."""
    on_grid.save(path)
    tamper(path, columns={"count": on_grid.counts + 0.5})

    np.testing.assert_array_equal(read(path).counts, on_grid.counts + 0.5)


def test_columns_are_as_documented(synopsis, path):
    """Every column holds what it says, computed here from the synopsis."""
    synopsis.save(path)
    table, leaves = pq.read_table(path), synopsis.measurements.leaves

    assert table.schema.remove_metadata().equals(COLUMNS)
    bounds = np.stack([table[name] for name in ("west", "south", "east", "north")], axis=1)
    np.testing.assert_array_equal(bounds, synopsis.partition.bounds())
    boxes = [list(box.values()) for box in table["bbox"].to_pylist()]
    np.testing.assert_array_equal(boxes, bounds)
    np.testing.assert_array_equal(table["std_error"], np.sqrt(synopsis.variances))
    np.testing.assert_array_equal(table["measured"], leaves.values)
    assert table["rate"].to_pylist() == [str(leaves.rates[0])] * synopsis.partition.cells


def test_geopandas_reads_it(synopsis, path):
    """Geometries are the boxes of the cells, in longitude and latitude."""
    synopsis.save(path)
    frame = geopandas.read_parquet(path)

    assert frame.crs == "OGC:CRS84"
    assert shapely.equals(frame.geometry, shapely.box(*synopsis.partition.bounds().T)).all()
    np.testing.assert_array_equal(frame["count"], synopsis.counts)


def test_geopandas_filters_by_the_covering_box(on_grid, path):
    """Readers find a place without looking at polygons."""
    on_grid.save(path)
    west, south, east, north = on_grid.partition.bounds(5, 6)[0]
    inside = west + (east - west) / 3, south + (north - south) / 3

    assert geopandas.read_parquet(path, bbox=(*inside, *inside))["count"].tolist() == [on_grid.counts[5]]


def test_groups_of_rows_are_skipped_by_place(path):
    """Groups of a large grid have no cell in common with each other's place, as their statistics say."""
    grid = Grid(domain=Domain(west=0, south=0, east=4, north=2), rows=400, columns=300)
    synopsis_on(grid, values=np.arange(grid.cells)).save(path)
    parquet = pq.read_metadata(path)
    found = [statistics_of(parquet.row_group(group)) for group in range(parquet.num_row_groups)]

    assert [group.num_rows for group in map(parquet.row_group, range(parquet.num_row_groups))] == [30_000] * 4
    assert [(each["bbox.ymin"].min, each["bbox.ymax"].max) for each in found] == [
        (0, 0.5),
        (0.5, 1),
        (1, 1.5),
        (1.5, 2),
    ]


def test_geopandas_reads_metres(on_grid, path):
    """A projected domain keeps its reference system."""
    domain = Domain(west=5e5, south=4e6, east=6e5, north=5e6, crs="EPSG:32618")
    replace(on_grid, partition=replace(on_grid.partition, domain=domain)).save(path)

    assert geopandas.read_parquet(path).crs == "EPSG:32618"
    assert read(path).partition.domain == domain


def test_duckdb_reads_it(synopsis, path):
    """Sums and types are those of the synopsis, and geometry is known as such without any extension."""
    synopsis.save(path)
    with duckdb.connect() as database:
        types = {name: kind for name, kind, *_ in database.sql(f"describe from '{path}'").fetchall()}
        ((total, cells),) = database.sql(f"select sum(count), count(*) from '{path}'").fetchall()

    assert types["geometry"].startswith(("GEOMETRY", "BLOB"))
    assert types["measured"] == "BIGINT"
    assert (total, cells) == (pytest.approx(synopsis.total), synopsis.partition.cells)


def test_the_footer_is_stored_once(on_nested, path):
    """Arrow's own copy of the schema, which would hold all of it again, is left out."""
    on_nested.save(path)

    assert set(pq.read_metadata(path).metadata) == {
        b"geo",
        b"hushgrid",
        b"hushgrid:structure",
        b"hushgrid:measurements",
    }


def test_the_same_synopsis_makes_the_same_bytes(synopsis, tmp_path):
    """No time, name or chance is in a file."""
    for name in ("one", "two"):
        synopsis.save(tmp_path / name)

    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_nothing_of_the_machine_is_in_the_file(on_nested, path):
    """The path, the user and the host are not in the file."""
    on_nested.save(path)
    text = path.read_bytes()

    for word in (path.name, str(path.parent), socket.gethostname(), f'"{getpass.getuser()}"'):
        assert word.encode() not in text


def test_the_true_number_of_points_is_not_in_the_file(path):
    """Only the synopsis is written: no cell, footer or statistic holds the true N or a true count."""
    true_counts = np.array([1_234_567, 7_654_321, 3_141_593, 2_718_281])
    true_n = int(true_counts.sum())
    noisy = NoisyValues.at_one_rate(true_counts + np.array([3, -2, 5, 1]), Fraction(1, 2))
    grid = Grid(domain=Domain(west=0, south=0, east=1, north=1), rows=2, columns=2)
    given = {"claim": Claim(epsilon=Fraction(1, 2)), "method": MethodRecord(name="ug")}
    Synopsis.infer(grid, Measurements.of_leaves(noisy), inference="direct", **given).save(path)
    secrets = {true_n, *true_counts.tolist()}
    table, metadata = pq.read_table(path), pq.read_metadata(path)
    columns = [metadata.row_group(0).column(index) for index in range(metadata.num_columns)]
    bounds = [
        bound for column in columns if column.statistics for bound in (column.statistics.min, column.statistics.max)
    ]
    values = [value for name in table.column_names for value in table[name].to_pylist()]

    assert secrets.isdisjoint(value for value in values + bounds if isinstance(value, int | float))
    for secret in secrets:
        for text in (str(secret).encode(), np.int64(secret).tobytes(), np.float64(secret).tobytes()):
            assert text not in path.read_bytes()


def test_simulations_are_written_only_when_asked(on_grid, path):
    """A simulated synopsis is not a release, and its file says so."""
    simulated = replace(on_grid, claim=replace(on_grid.claim, simulation=True))

    with pytest.raises(ArgumentError, match="allow_simulation=True"):
        simulated.save(path)
    assert list(path.parent.iterdir()) == []

    simulated.save(path, allow_simulation=True)
    assert json.loads(pq.read_metadata(path).metadata[b"hushgrid"])["claim"]["simulation"] is True
    assert read(path).simulation


def test_what_could_not_be_read_is_not_written(on_grid, on_nested, path):
    """A synopsis whose inference does not fit its measurements leaves no file."""
    for unfit in (replace(on_grid, inference="two-level"), replace(on_nested, inference="magic")):
        with pytest.raises(ArgumentError, match="cannot be written"):
            unfit.save(path)
    assert list(path.parent.iterdir()) == []


def test_an_unknown_reference_system_leaves_no_file(on_grid, path):
    """What fails while the footer is made fails before there is a file."""
    domain = Domain(west=0, south=0, east=1, north=1, crs="nowhere")

    with pytest.raises(ArgumentError, match="nowhere"):
        replace(on_grid, partition=replace(on_grid.partition, domain=domain)).save(path)
    assert list(path.parent.iterdir()) == []


def test_existing_files_are_replaced_only_when_asked(synopsis, path):
    """The first release stays until overwriting is asked for by name."""
    path.write_text("precious")

    with pytest.raises(ArgumentError, match="overwrite=True"):
        synopsis.save(path)
    assert path.read_text() == "precious"

    synopsis.save(path, overwrite=True)
    assert_same(read(path), synopsis)


def test_what_is_no_file_is_refused(tmp_path):
    """A missing file, a folder, an empty file and a text are told apart."""
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("lon,lat\n1,2\n")
    cases = {
        "missing": "does not exist",
        "": "is a folder. Name one release in it",
        "empty": "not a Parquet file",
        "text": "not a Parquet file",
    }

    for name, complaint in cases.items():
        with pytest.raises(SynopsisFileError, match=complaint):
            read(tmp_path / name)


def test_other_parquet_files_are_told_apart(path):
    """A Parquet file of points is not a release."""
    pq.write_table(pa.table({"lon": [1.0], "lat": [2.0]}), path)

    with pytest.raises(SynopsisFileError, match="not a release of hushgrid"):
        read(path)


def test_every_truncation_is_noticed(on_nested, path, tmp_path):
    """However much is missing, there is one clear error, and no other."""
    on_nested.save(path)
    whole, cut = path.read_bytes(), tmp_path / "cut"

    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        with pytest.raises(SynopsisFileError):
            read(cut)


@pytest.mark.parametrize("name", COLUMNS.names)
def test_every_column_is_needed(on_grid, path, name):
    """A missing column is an error, needed or not."""
    on_grid.save(path)
    tamper(path, schema=COLUMNS.remove(COLUMNS.get_field_index(name)))

    with pytest.raises(SynopsisFileError, match="its columns are not"):
        read(path)


def test_the_first_schema_has_no_boxes(on_grid, path):
    """A file has the columns of its own schema, and no others."""
    on_grid.save(path)
    tamper(path, edit=lambda release: release.update(schema=1))
    with pytest.raises(SynopsisFileError, match="its columns are not"):
        read(path)

    tamper(path, schema=COLUMNS.remove(COLUMNS.get_field_index("bbox")))
    assert_same(read(path), on_grid)


@pytest.mark.parametrize(("name", "kind"), [("count", pa.float32()), ("measured", pa.int32()), ("rate", pa.binary())])
def test_columns_of_other_types_are_refused(on_grid, path, name, kind):
    """Types are part of the format."""
    on_grid.save(path)
    index = COLUMNS.get_field_index(name)
    columns = {"measured": pq.read_table(path)["measured"].to_numpy().astype(np.int32)} if name == "measured" else {}
    columns |= {"rate": [b"1"] * 12} if name == "rate" else {}
    tamper(
        path, columns=columns, schema=COLUMNS.set(index, pa.field(name, kind, nullable=COLUMNS.field(name).nullable))
    )

    with pytest.raises(SynopsisFileError, match="not of the right types"):
        read(path)


HOSTILE_COLUMNS = {
    "a count that is not a number": ({"count": [np.nan] * 12}, "not a finite number"),
    "an infinite count": ({"count": [np.inf] * 12}, "not a finite number"),
    "a rate of zero": ({"rate": ["0"] * 12}, "a rate must be a fraction above zero"),
    "a rate without a value": ({"measured": [None] * 12}, "lacks its rate"),
    "leaves that were not measured": ({"measured": [None] * 12, "rate": [None] * 12}, "do not fit the inference"),
    "leaves at several rates": ({"rate": ["1", "1/2"] * 6}, "do not fit the inference"),
}


@pytest.mark.parametrize(("columns", "complaint"), HOSTILE_COLUMNS.values(), ids=HOSTILE_COLUMNS)
def test_hostile_columns_are_refused(on_grid, path, columns, complaint):
    """Values that would make answers meaningless are errors."""
    on_grid.save(path)
    tamper(path, columns=columns)

    with pytest.raises(SynopsisFileError, match=complaint):
        read(path)


@pytest.mark.parametrize("inference", ["two-level", "guesswork"])
def test_inferences_must_fit(on_grid, path, inference):
    """An inference that is unknown, or not for this structure, is refused."""
    on_grid.save(path)
    tamper(path, edit=lambda release: release.update(inference=inference))

    with pytest.raises(SynopsisFileError, match=f"inference '{inference}'"):
        read(path)


def test_leaves_of_a_cell_share_their_rate(on_nested, path):
    """Two-level inference takes it for granted, so a file must not say otherwise."""
    on_nested.save(path)
    tamper(path, columns={"rate": ["1/2"] * 14 + ["1/3"]})
    assert read(path).measurements.leaves.rates == (Fraction(1, 2), Fraction(1, 3))  # the last cell has one leaf

    tamper(path, columns={"rate": ["1/2"] * 13 + ["1/3"] * 2})
    with pytest.raises(SynopsisFileError, match="do not fit the inference 'two-level'"):
        read(path)


def test_more_cells_than_rows_are_refused_before_anything_is_built(on_grid, path):
    """A small file that claims the largest grid is told from its row count."""
    on_grid.save(path)
    tamper(path, edit=lambda release: release["structure"].update(rows=2**13, columns=2**13, cells=2**26))

    with pytest.raises(SynopsisFileError, match="67,108,864 cells, the file 12 rows"):
        read(path)


def test_reading_does_not_touch_geometry(on_nested, path):
    """Damage in the polygons does not keep anyone from the counts."""
    on_nested.save(path)
    chunk = pq.read_metadata(path).row_group(0).column(COLUMNS.get_field_index("geometry"))
    damaged = bytearray(path.read_bytes())
    damaged[chunk.data_page_offset + chunk.total_compressed_size - 9] ^= 0xFF
    path.write_bytes(damaged)

    assert_same(read(path), on_nested)


def test_damage_in_the_counts_is_noticed(on_nested, path):
    """Pages carry checksums, and a flipped bit in one that is read is an error."""
    on_nested.save(path)
    chunk = pq.read_metadata(path).row_group(0).column(COLUMNS.get_field_index("count"))
    damaged = bytearray(path.read_bytes())
    damaged[chunk.dictionary_page_offset + chunk.total_compressed_size - 3] ^= 1
    path.write_bytes(damaged)

    with pytest.raises(SynopsisFileError, match="damaged"):
        read(path)
