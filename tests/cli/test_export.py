"""`hushgrid export`: a release in other formats."""

import csv
import io
import json
import sys
from pathlib import Path

import geopandas
import numpy as np
import pytest
import rasterio
from matplotlib.image import imread

import hushgrid as hg
from tests.cli.commands import Run, assert_refused

FORMATS = {"gpkg": "out.gpkg", "geotiff": "out.tif", "geojson": "out.geojson", "csv": "out.csv"}


@pytest.mark.parametrize("wanted", FORMATS)
def test_every_format_sums_to_the_total(run: Run, release: Path, wanted: str) -> None:
    """The path alone on stdout; read back by other software."""
    result = run("export", release, "--to", wanted, "-o", FORMATS[wanted])
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{FORMATS[wanted]}\n"
    match wanted:
        case "gpkg":
            total = geopandas.read_file("out.gpkg")["count"].sum()
        case "geotiff":
            with rasterio.open("out.tif") as file:
                total = file.read(1).sum()
        case "geojson":
            features = json.loads(Path("out.geojson").read_text())["features"]
            total = sum(feature["properties"]["count"] for feature in features)
        case "csv":
            with Path("out.csv").open(newline="") as file:
                total = sum(float(row["count"]) for row in csv.DictReader(file))

    assert np.isclose(total, hg.read(release).total)


def test_a_picture_is_what_plot_draws(run: Run, release: Path) -> None:
    """Pixel by pixel, however the file is asked for."""
    assert run("export", release, "-o", "out.png").exit_code == 0
    assert run("export", release, "--to", "png", "-o", "named.png").exit_code == 0
    plotted = io.BytesIO()
    hg.read(release).plot().figure.savefig(plotted, format="png", dpi=200)

    expected = imread(io.BytesIO(plotted.getvalue()))
    assert np.array_equal(imread("out.png"), expected)
    assert np.array_equal(imread("named.png"), expected)


@pytest.mark.parametrize("wanted", FORMATS)
def test_a_name_says_the_format(run: Run, release: Path, wanted: str) -> None:
    """The extension of the output chooses the format that --to names."""
    assert run("export", release, "-o", FORMATS[wanted]).exit_code == 0
    assert run("export", release, "--to", wanted, "-o", f"named-{FORMATS[wanted]}").exit_code == 0

    alike = Path(FORMATS[wanted]).stat().st_size, Path(f"named-{FORMATS[wanted]}").stat().st_size
    assert alike[0] == pytest.approx(alike[1], rel=0.01)


@pytest.mark.parametrize("name", ["trips", "trips.shp", "-"])
def test_a_name_that_says_nothing_needs_a_format(run: Run, release: Path, name: str) -> None:
    """The message lists what a name may end in."""
    assert_refused(run("export", release, "-o", name), 2, ".gpkg, .tif, .tiff, .geojson, .json, .csv, .png")


@pytest.mark.parametrize(("given", "shape"), [("50", (39, 50)), ("30x20", (20, 30)), ("1", (1, 1))])
def test_a_resolution_is_pixels(run: Run, release: Path, given: str, shape: tuple[int, int]) -> None:
    """A resolution is pixels of the longer side, or columns and rows."""
    assert run("export", release, "--to", "geotiff", "-o", "out.tif", "--resolution", given).exit_code == 0
    with rasterio.open("out.tif") as file:
        assert file.shape == shape


@pytest.mark.parametrize("given", ["0", "-5", "1.5", "big", "3x", "3x0", "1x2x3", "", "100000x100000"])
def test_a_resolution_that_is_none_is_refused(run: Run, release: Path, given: str) -> None:
    """The exit code is 2, and nothing is written."""
    result = run("export", release, "--to", "geotiff", "-o", "out.tif", f"--resolution={given}")

    assert_refused(result, 2, "100000" if len(given) > 5 else "--resolution")
    assert list(Path().iterdir()) == []


def test_only_pixels_have_a_resolution(run: Run, release: Path) -> None:
    """--resolution with a format that has no pixels is a usage error."""
    assert_refused(run("export", release, "--to", "csv", "-o", "out.csv", "--resolution", "9"), 2, "--resolution")


@pytest.mark.parametrize("options", [[], ["--to", "shp", "-o", "out.shp"], ["--to", "csv"]], ids=str)
def test_what_is_missing_or_unknown_is_refused(run: Run, release: Path, options: list[str]) -> None:
    """Missing outputs and unknown formats end with exit code 2."""
    assert_refused(run("export", release, *options), 2)


def test_files_are_not_replaced_unless_asked(run: Run, release: Path) -> None:
    """The exit code is 2, and the old file stays."""
    Path("out.gpkg").write_text("mine")

    assert_refused(run("export", release, "--to", "gpkg", "-o", "out.gpkg"), 2, "--overwrite")
    assert Path("out.gpkg").read_text() == "mine"
    assert run("export", release, "--to", "gpkg", "-o", "out.gpkg", "--overwrite").exit_code == 0


def test_only_releases_are_opened(run: Run, points_file: Path) -> None:
    """A file of points is none, and a missing one neither."""
    assert_refused(run("export", points_file, "--to", "csv", "-o", "out.csv"), 3, "cannot be read")
    assert_refused(run("export", "no.parquet", "--to", "csv", "-o", "out.csv"), 3, "no.parquet")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("wanted", "library", "extra"),
    [("gpkg", "pyogrio", "gis"), ("geotiff", "rasterio", "raster"), ("png", "matplotlib.figure", "plots")],
)
def test_a_missing_library_is_named_with_its_extra(
    run: Run, release: Path, wanted: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what to install, and no file is left behind."""
    monkeypatch.setitem(sys.modules, library, None)

    result = run("export", release, "--to", wanted, "-o", "out")
    assert_refused(result, 2, f"pip install 'hushgrid[{extra}]'")
    assert list(Path().iterdir()) == []


def test_a_simulation_is_warned_of(run: Run, simulated: Path) -> None:
    """A warning is on stderr, and a mark in the file."""
    assert "simulation" in run("export", simulated, "--to", "csv", "-o", "out.csv").stderr
    assert Path("out.csv").read_text().splitlines()[0].endswith("simulated_count,simulated_std_error")
