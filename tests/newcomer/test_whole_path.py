"""The whole path of a steward: from a spreadsheet of Europe to a signed statement and a map by districts."""

import csv
import hashlib
import io
import json
from pathlib import Path

import numpy as np
import pytest
import shapely

import hushgrid as hg
from hushgrid.ledger.ledger import open_ledger
from tests.newcomer.desk import hushgrid

EPSILON, MOST, PEOPLE = 8, 3, 4_000
WEST, SOUTH, SIDE = 13.2, 52.4, 0.1  # three by two districts of Berlin
PUBLISH = (
    "hushgrid publish fahrten.csv --areas bezirke.geojson --epsilon 8 --user-column kunde --max-per-user 3 "
    "--dataset fahrten -o fahrten.dp.parquet"
)


@pytest.fixture
def true_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Trips of people with one to three each, as a spreadsheet saves them; how many begin in each district."""
    monkeypatch.chdir(tmp_path)
    made = np.random.default_rng(11)
    people = np.repeat(np.arange(PEOPLE), made.integers(1, MOST + 1, PEOPLE))
    places = np.array([WEST, SOUTH]) + made.random((len(people), 2)) ** 2 * [3 * SIDE, 2 * SIDE]
    with Path("fahrten.csv").open("w", newline="") as out:
        writer = csv.writer(out, delimiter=";")
        writer.writerow(["kunde", "lon", "lat"])
        for person, place in zip(people, places, strict=True):
            writer.writerow([f"K{person:05}", *(f"{number:.6f}".replace(".", ",") for number in place)])
    districts = {
        f"Bezirk {column}{row}": shapely.box(
            WEST + column * SIDE, SOUTH + row * SIDE, WEST + (column + 1) * SIDE, SOUTH + (row + 1) * SIDE
        )
        for column in range(3)
        for row in range(2)
    }
    features = [
        {"type": "Feature", "properties": {"name": name}, "geometry": json.loads(shapely.to_geojson(shape))}
        for name, shape in districts.items()
    ]
    Path("bezirke.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    points = shapely.points(places.round(6))
    return {name: int(shapely.covers(shape, points).sum()) for name, shape in districts.items()}


def run(command: str) -> str:
    result = hushgrid(command)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_from_a_spreadsheet_to_a_signed_statement_and_a_map(true_counts: dict[str, int]) -> None:
    run("hushgrid ledger init --dataset fahrten --budget 10 --unit user")
    checked = run(f"{PUBLISH} --check")
    assert "semicolons between columns" in checked
    assert "user 'kunde'" in checked
    assert checked.endswith("Nothing was read and nothing was spent.\n")

    run(PUBLISH)
    with open_ledger("hushgrid.ledger") as ledger:
        assert ledger.book().accounts["fahrten"].left == 2

    table = list(csv.DictReader(io.StringIO(run("hushgrid query fahrten.dp.parquet --csv"))))
    assert {row["name"] for row in table} == set(true_counts)
    for row in table:
        assert float(row["estimate"]) == pytest.approx(true_counts[row["name"]], abs=8)  # twenty scales of the noise

    signed = "--publisher 'Stadt Berlin' --contact daten@example.org --date 2026-03-31 --language de --dataset fahrten"
    run(f"hushgrid manifest fahrten.dp.parquet -o erklaerung.html {signed}")
    statement = Path("erklaerung.html").read_text()
    digest = hashlib.sha256(Path("fahrten.dp.parquet").read_bytes()).hexdigest()
    for words in ('lang="de"', "Stadt Berlin", "daten@example.org", "2026-03-31", digest, "Unterschrift"):
        assert words in statement

    run("hushgrid map fahrten.dp.parquet -o karte.html --title 'Fahrten in Berlin'")
    page = Path("karte.html").read_text()
    assert "<title>Fahrten in Berlin</title>" in page
    assert all(name in page for name in true_counts)
    run("hushgrid verify fahrten.dp.parquet")
    assert hg.read("fahrten.dp.parquet").claim.epsilon == EPSILON
