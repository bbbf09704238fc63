"""A folder of Parquet files, which are one table."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushgrid.counting.counter import PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.counting.parquet import ParquetFolder
from hushgrid.counting.source import parquet_files
from hushgrid.errors import InputError
from hushgrid.geometry.grid import Grid
from hushgrid.work import Step, Work
from tests.plain import PlainCounter
from tests.unit.counting.tables import DOMAIN, some_points

GRID = Grid(domain=DOMAIN, rows=5, columns=9)
NAMES = ["part-0.parquet", "part-1.pq", "day=1/part-0.parquet", "day=2/deep/Part.PARQUET"]


def write(path, points, names=("lon", "lat")):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(dict(zip(names, points.T, strict=True))), path, row_group_size=30)
    return path


@pytest.fixture
def folder(tmp_path):
    """Points in files on several levels, and what Spark leaves beside them."""
    place = tmp_path / "trips"
    for name, points in zip(NAMES, np.array_split(some_points(300), len(NAMES)), strict=True):
        write(place / name, points)
    for name in ("_SUCCESS", ".part-0.parquet.crc", "_temporary/0/half.parquet"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(b"?")
    return place


def counter(folder, **options):
    return PointCounter(DOMAIN, open_points(folder, crs=DOMAIN.crs), **options)


def test_the_files_are_one_table(folder):
    """Counts and rows are those of all points; hidden names are passed over."""
    points = some_points(300)

    assert isinstance(open_points(str(folder), crs=DOMAIN.crs), ParquetFolder)
    assert counter(folder).rows() == len(points)
    np.testing.assert_array_equal(counter(folder).count(GRID), PlainCounter(DOMAIN, tuple(points)).count(GRID))


def test_files_come_in_the_order_of_their_names(folder):
    """Files are sorted by name, whatever order the disk has them in."""
    assert [str(path.relative_to(folder)) for path in parquet_files(folder)] == sorted(NAMES)


def test_progress_is_the_share_of_all_files(folder):
    """It grows to one once, not with every file."""
    shares = []
    with Work([Step("counting", 1.0)], shares.append):
        counter(folder).count(GRID)
        assert 0.98 <= shares[-1] < 1

    assert len(shares) == 101


def test_user_ids_come_with_the_points(tmp_path):
    """Every file gives its ids, of whatever type it declares."""
    for number, ids in enumerate((pa.array([7, 8]), pa.array(["7", "x"]))):
        table = pa.table({"lon": [1.0, 2.0], "lat": [1.0, 2.0], "rider": ids})
        pq.write_table(table, tmp_path / f"{number}.parquet")

    parts = open_points(tmp_path, crs=DOMAIN.crs, user="rider").parts()

    ids = [user for part in parts for block in part for user in block.users.to_pylist()]
    assert ids == [b"7", b"8", b"7", b"x"]


def rewrite(folder):
    os.utime(folder / NAMES[2], ns=(1, 1))


def add(folder):
    write(folder / "day=3" / "new.parquet", some_points(3))


def remove(folder):
    (folder / NAMES[1]).unlink()


def rename(folder):
    (folder / NAMES[0]).rename(folder / "part-9.parquet")


@pytest.mark.parametrize("change", [rewrite, add, remove, rename])
def test_a_folder_that_changed_between_passes_is_an_error(folder, change):
    """A file that is new, gone or another one is noticed before the next pass."""
    counting = counter(folder)
    counting.count(GRID)

    change(folder)

    for ask in (counting.rows, counting.total):
        with pytest.raises(InputError, match=r"changed while it was being published|does not exist"):
            ask()


def test_a_file_that_comes_during_a_pass_is_an_error(folder):
    """The list is made again when the pass is over."""
    counting = counter(folder)
    work = Work([Step("counting", 1.0)], lambda share: share and add(folder))

    with pytest.raises(InputError, match="changed while it was being published"), work:
        counting.count(GRID)


def leave_empty(folder):
    pass


def leave_hidden(folder):
    (folder / "_SUCCESS").touch()


def leave_csv(folder):
    write(folder / "a.parquet", some_points(3))
    (folder / "b.csv").write_text("lon,lat\n")


def leave_other_columns(folder):
    write(folder / "a.parquet", some_points(3))
    write(folder / "b.parquet", some_points(3), names=("x", "y"))


def leave_text(folder):
    write(folder / "a.parquet", some_points(3))
    (folder / "b.parquet").write_text("lon,lat\n")


def leave_pipe(folder):
    os.mkfifo(folder / "a.parquet")


def leave_dangling_link(folder):
    (folder / "a.parquet").symlink_to(folder / "nowhere")


BAD_FOLDERS = {
    "empty": (leave_empty, "is a folder without Parquet files"),
    "hidden files only": (leave_hidden, "is a folder without Parquet files"),
    "another kind of file": (leave_csv, r"b\.csv, which is not a Parquet file"),
    "other columns": (leave_other_columns, r"b\.parquet has its points in 'x' and 'y', and .*a\.parquet in 'lon'"),
    "damaged": (leave_text, r"b\.parquet cannot be read: it is damaged"),
    "pipe": (leave_pipe, "is not a regular file"),
    "dangling link": (leave_dangling_link, "does not exist"),
}


@pytest.mark.parametrize(("leave", "message"), BAD_FOLDERS.values(), ids=BAD_FOLDERS)
def test_a_folder_that_is_no_table_is_a_one_line_error(leave, message, tmp_path):
    """It names the file and the way out."""
    leave(tmp_path)

    with pytest.raises(InputError, match=message) as caught:
        open_points(tmp_path, crs=DOMAIN.crs)

    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)
