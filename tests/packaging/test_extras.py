"""Each extra, installed alone beside the core, makes its commands work; without it they say what to install."""

import json
import shlex
import shutil
import subprocess
import tomllib
import urllib.request
from urllib.parse import quote

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from tests.ledger.server import running_server, why_not
from tests.packaging.environment import ROOT, pins, run
from tests.packaging.shared import shared_folder

pytestmark = pytest.mark.slow

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
AREA = {"type": "Polygon", "coordinates": [[[0, 0], [0.5, 0], [0.5, 0.5], [0, 0]]]}
UNIT_SQUARE = "--domain 0,0,1,1 --epsilon 1 --method ug -o new.dp.parquet"
METRES = "--domain 0,0,111000,111000 --grid-crs EPSG:3857 --crs EPSG:4326 --epsilon 1 --method ug -o new.dp.parquet"
SERIES = quote("SELECT n / 500.0::float8 AS lon, n / 500.0::float8 AS lat FROM generate_series(1, 500) AS n")
DATABASE = "postgresql://nobody@127.0.0.1/none?sslmode=disable"
PICTURE = "import hushgrid; hushgrid.read('points.dp.parquet').plot().figure.savefig('new.png')"

COMMANDS = [
    ("duckdb", f"""publish "SELECT lon, lat FROM 'points.parquet' WHERE lon < 0.5" --engine duckdb {UNIT_SQUARE}"""),
    ("gis", "query points.dp.parquet --polygons areas.geojson"),
    ("gis", "export points.dp.parquet --to gpkg -o new.gpkg"),
    ("gis", f"publish points.csv {METRES}"),
    ("h3", "publish points.csv --areas h3:3,5 --domain 0,0,1,1 --epsilon 1 -o new.dp.parquet"),
    ("postgres", "ledger init --ledger {database} --dataset points --budget 1 --unit record"),
    ("postgres", f"publish '{{database}}&select={SERIES}' {UNIT_SQUARE}"),
    ("plots", "export points.dp.parquet -o new.png"),
    ("raster", "export points.dp.parquet --to geotiff -o new.tif"),
    ("spark", f"publish points.parquet --engine spark {UNIT_SQUARE}"),
]


@pytest.fixture
def with_extra(core, tmp_path_factory):
    """The environment of an extra: the core, and what pip adds for it at the locked versions."""

    def get(extra):
        def make(folder):
            (folder / "pins.txt").write_text(pins())
            core.extended(folder / "added").install("--constraint", folder / "pins.txt", f"hushgrid[{extra}]")

        return type(core)(shared_folder(tmp_path_factory, f"with-{extra}", make) / "added")

    return get


@pytest.fixture
def folder(release, tmp_path):
    """A folder with points, a release of them and an area."""
    points = shutil.copy(release.with_name("points.csv"), tmp_path)
    pq.write_table(pyarrow.csv.read_csv(points), tmp_path / "points.parquet")
    (tmp_path / "areas.geojson").write_text(json.dumps(AREA))
    shutil.copy(release, tmp_path)
    return tmp_path


@pytest.fixture
def database(request):
    """The URL of a database where a command needs one."""
    if "{database}" not in request.node.callspec.params["command"]:
        yield None
    elif (reason := why_not()) is not None:
        pytest.skip(reason)
    else:
        with running_server() as url:
            yield url


def test_every_extra_is_tried():
    """Plots by their method, the server by asking it, all others by commands."""
    assert {"plots", "server", *(extra for extra, _ in COMMANDS)} == set(EXTRAS)


@pytest.mark.parametrize(("extra", "command"), [*COMMANDS, ("server", "serve points.dp.parquet")])
def test_without_the_extra_a_command_says_which(extra, command, core, folder):
    """By the line that would install it, and nothing is written."""
    printed = core.hushgrid(*shlex.split(command.format(database=DATABASE)), cwd=folder, code=2)

    assert f"hushgrid[{extra}]" in printed
    assert "Traceback" not in printed
    assert not list(folder.glob("new.*"))


@pytest.mark.parametrize(("extra", "command"), COMMANDS)
def test_with_the_extra_alone_the_command_works(extra, command, with_extra, folder, database):
    """With one extra installed, its command works and writes its files."""
    with_extra(extra).hushgrid(*shlex.split(command.format(database=database)), cwd=folder)

    assert not [name for name in shlex.split(command) if name.startswith("new.") and not (folder / name).stat().st_size]


def test_plots_need_the_extra_of_that_name(core, with_extra, folder):
    """Without it the error names it; with it alone a picture is drawn."""
    assert "hushgrid[plots]" in run(core.python, "-c", PICTURE, cwd=folder, code=1)
    run(with_extra("plots").python, "-c", PICTURE, cwd=folder)

    assert (folder / "new.png").read_bytes().startswith(b"\x89PNG")


def test_the_server_needs_the_extra_of_that_name_only(with_extra, folder):
    """The page and an answer come from the installed files."""
    command = (with_extra("server").python, "-m", "hushgrid", "serve", "points.dp.parquet", "--port", "0")
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as serving:
        try:
            address = serving.stdout.readline().strip()
            page = urllib.request.urlopen(address, timeout=60).read().decode()
            described = json.load(urllib.request.urlopen(f"{address}openapi.json", timeout=60))
        finally:
            serving.terminate()

    assert "Leaflet" in page
    assert described["openapi"].startswith("3.")


def test_an_extra_brings_no_other(with_extra, folder):
    """Negative control: where rasters can be written, polygons still cannot be counted."""
    printed = with_extra("raster").hushgrid(*shlex.split(COMMANDS[1][1]), cwd=folder, code=2)

    assert "hushgrid[gis]" in printed
