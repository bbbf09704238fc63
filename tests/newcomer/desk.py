"""A newcomer's folder: points in many kinds of files, a release, a ledger."""

import json
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from click.testing import CliRunner, Result

import hushgrid as hg
from hushgrid.cli import main
from hushgrid.ledger.ledger import open_ledger

NEW_YORK = hg.Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
W_S_E_N = "-74.26,40.48,-73.70,40.92"
ROWS = 2_000
SQUARE = [[-74.0, 40.7], [-73.9, 40.7], [-73.9, 40.8], [-74.0, 40.8], [-74.0, 40.7]]
DISTRICTS = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {"name": "Centre"},
            "geometry": {"type": "Polygon", "coordinates": [SQUARE]},
        }
    ],
}


def hushgrid(command: str, *, stdin: bytes | None = None) -> Result:
    """Run a command line that begins with hushgrid."""
    name, *arguments = shlex.split(command)
    assert name == "hushgrid"
    return CliRunner().invoke(main, arguments, input=stdin, prog_name="hushgrid")


def lay_out(folder: Path, *, seed: int) -> None:
    """Make the files; another seed makes other records under the same schemas."""
    rng = np.random.default_rng(seed)
    trips = pa.table(
        {
            "user": [f"u{number:03}" for number in rng.integers(0, 300, ROWS)],
            "lon": rng.normal(-73.95, 0.05, ROWS).round(6),
            "lat": rng.normal(40.75, 0.05, ROWS).round(6),
        }
    )
    pq.write_table(trips, folder / "trips.parquet")
    pq.write_table(trips.rename_columns(["user", "pickup_lon", "pickup_lat"]), folder / "rides.parquet")
    pq.write_table(trips.set_column(1, "lon", trips["lon"].cast(pa.string())), folder / "text.parquet")
    pq.write_table(_in_metres(rng), folder / "metres.parquet")
    pyarrow.csv.write_csv(trips, folder / "trips.csv")
    lines = (folder / "trips.csv").read_text().splitlines(keepends=True)
    (folder / "headless.csv").write_text("".join(lines[1:]))
    (folder / "colons.csv").write_text("".join(lines).replace(",", ":").replace('"', ""))
    _of_a_spreadsheet(lines, folder / "spreadsheet.csv")
    (folder / "districts.geojson").write_text(json.dumps(DISTRICTS))
    for name in ("trips.xlsx", "places.shp", "packed.gz"):
        (folder / name).write_bytes(rng.bytes(100))
    (folder / "empty").mkdir()
    _release(trips, folder / "trips.dp.parquet")
    _of_newer_schema(folder / "trips.dp.parquet", folder / "newer.dp.parquet")
    with open_ledger(folder / "hushgrid.ledger", create=True) as ledger:
        ledger.add_dataset("trips", budget=1, unit="record")


def _of_a_spreadsheet(lines: list[str], path: Path) -> None:
    """The table as a spreadsheet of Europe saves it: semicolons between columns, commas in numbers."""
    path.write_text("".join(lines).replace(",", ";").replace(".", ",").replace('"', ""))


def _in_metres(rng: np.random.Generator) -> pa.Table:
    """GeoParquet in a declared system of metres (UTM zone 18 north)."""
    places = rng.normal((588_000, 4_511_000), 3_000, (ROWS, 2))
    points = [b"\x01\x01\x00\x00\x00" + place.astype("<f8").tobytes() for place in places]
    crs = {"id": {"authority": "EPSG", "code": 32618}}
    geo = {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["Point"], "crs": crs}},
    }
    return pa.table({"geometry": pa.array(points, pa.binary())}).replace_schema_metadata({"geo": json.dumps(geo)})


def _release(trips: pa.Table, path: Path) -> None:
    hg.publish(trips, domain=NEW_YORK, epsilon=1, method="ug", calibrate=False).save(path)


def _of_newer_schema(release: Path, path: Path) -> None:
    table = pq.read_table(release)
    footer = json.loads(table.schema.metadata[b"hushgrid"])
    metadata = {**table.schema.metadata, b"hushgrid": json.dumps({**footer, "schema": 99}).encode()}
    pq.write_table(table.replace_schema_metadata(metadata), path)
