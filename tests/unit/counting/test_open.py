"""Paths, arrays and frames at the front door."""

import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from hushgrid.counting.csv import CsvPoints
from hushgrid.counting.opening import CSV, open_points
from hushgrid.counting.parquet import ParquetPoints
from hushgrid.counting.source import PARQUET
from hushgrid.errors import ArgumentError, InputError
from tests.unit.counting.tables import DOMAIN, FORMS


@pytest.mark.parametrize("extension", [*PARQUET, ".PARQUET"])
def test_parquet_by_its_extension(extension, tmp_path):
    """Text and path objects both name a file."""
    path = tmp_path / f"points{extension}"
    pq.write_table(pa.table({"lon": [1.0], "lat": [2.0]}), path)

    assert isinstance(open_points(path, crs=DOMAIN.crs), ParquetPoints)
    assert isinstance(open_points(str(path), crs=DOMAIN.crs), ParquetPoints)


@pytest.mark.parametrize("extension", [extension for extension in CSV if not extension.endswith(".gz")])
def test_csv_by_its_extension(extension, tmp_path):
    """Every usual ending of delimited text."""
    path = tmp_path / f"points{extension}"
    path.write_text("lon,lat\n1,2\n")

    assert isinstance(open_points(path, crs=DOMAIN.crs), CsvPoints)


def make_missing(folder):
    return folder / "points.parquet"


def make_missing_csv(folder):
    return folder / "points.csv"


def make_folder(folder):
    (folder / "points.parquet").mkdir()
    return folder / "points.parquet"


def make_pipe(folder):
    os.mkfifo(folder / "points.csv")
    return folder / "points.csv"


def make_unknown(folder):
    (folder / "points.shp").write_text("lon,lat\n")
    return folder / "points.shp"


def make_glob(folder):
    return folder / "*.parquet"


BAD_FILES = {
    "missing": (make_missing, "does not exist"),
    "missing CSV": (make_missing_csv, "does not exist"),
    "folder": (make_folder, "is a folder"),
    "pipe": (make_pipe, "not a regular file"),
    "unknown extension": (make_unknown, "Known are: .parquet"),
    "pattern": (make_glob, "does not exist"),
}


@pytest.mark.parametrize(("make", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_path_that_cannot_be_read_is_a_one_line_error(make, message, tmp_path):
    """It names the path and the way out."""
    path = make(tmp_path)

    with pytest.raises(InputError, match=re.escape(message)) as caught:
        open_points(path, crs=DOMAIN.crs)

    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", ["points.csv", "points.parquet"])
def test_a_file_without_permission_is_an_error(name, tmp_path):
    """A file that may not be read is reported with the reason."""
    path = tmp_path / name
    path.write_text("lon,lat\n")
    path.chmod(0)

    with pytest.raises(InputError, match="permission denied"):
        open_points(path, crs=DOMAIN.crs)


def test_csv_has_no_geometry(tmp_path):
    """Text is no column of points."""
    path = FORMS["CSV"](np.zeros((1, 2)), tmp_path)

    with pytest.raises(InputError, match="is CSV"):
        open_points(path, crs=DOMAIN.crs, geometry="geometry")


@pytest.mark.parametrize("form", FORMS)
def test_half_a_pair_of_names_is_refused_before_anything_is_opened(form, tmp_path):
    """Every kind of points refuses lon without lat."""
    with pytest.raises(ArgumentError, match="lon and lat go together"):
        hg.publish(FORMS[form](np.zeros((1, 2)), tmp_path), domain=DOMAIN, epsilon=1, lon="x")
