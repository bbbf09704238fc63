"""``hushgrid publish --prior``: what is public sharpens a release, and every account of it says so."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hushgrid as hg
from tests.cli.commands import DOMAIN, Run, assert_refused

GIVEN = ["--domain", ",".join(map(str, DOMAIN.bounds)), "--epsilon", "1", "--no-calibrate"]
CENTRES = np.random.default_rng(3).uniform((-74.2, 40.5), (-73.8, 40.9), (9, 2))


def crowd(rows: int, seed: int) -> np.ndarray:
    """Points around nine centres."""
    rng = np.random.default_rng(seed)
    return CENTRES[rng.integers(0, 9, rows)] + rng.normal(0, 0.004, (rows, 2))


@pytest.fixture(autouse=True)
def files(run: Run) -> None:
    """Private points, and public stations where they are, each with a number of seats."""
    for name, points in {"points": crowd(3000, 1), "stations": crowd(2000, 2)}.items():
        columns = {"lon": points[:, 0], "lat": points[:, 1], "seats": np.arange(len(points)) % 5}
        pq.write_table(pa.table(columns, metadata={"licence": "CC0 1.0"}), f"{name}.parquet")


def published(run: Run, *more: str, output: str = "out.dp.parquet") -> hg.Synopsis:
    """What the command published."""
    result = run("publish", "points.parquet", *GIVEN, *more, "-o", output)
    assert result.exit_code == 0, result.output
    return hg.read(output)


def test_the_release_is_sharpened_and_holds_its_prior(run: Run) -> None:
    """In its file, which verifies by itself."""
    release = published(run, "--prior", "stations.parquet", "--prior-weight", "seats")

    assert release.prior.used
    assert (release.prior.name, release.prior.licence) == ("stations.parquet", "CC0 1.0")
    Path("stations.parquet").unlink()
    assert run("verify", "out.dp.parquet").exit_code == 0


def test_every_account_names_it(run: Run) -> None:
    """describe, its JSON, the manifest, the statement and the map."""
    release = published(run, "--prior", "stations.parquet", "--manifest")
    digest = release.prior.sha256
    assert run("map", "out.dp.parquet", "-o", "map.html").exit_code == 0
    assert run("manifest", "out.dp.parquet", "-o", "statement.md").exit_code == 0
    described = run("describe", "out.dp.parquet").stdout
    values = json.loads(run("describe", "out.dp.parquet", "--json").stdout)["prior"]

    assert "believed: what was measured is likelier with it" in " ".join(described.split())
    assert values == {
        "name": "stations.parquet", "kind": "points", "sha256": digest, "licence": "CC0 1.0",
        "nats": release.prior.nats, "used": True,
    }  # fmt: skip
    for text in (described, Path("map.html").read_text(), Path("out.dp.manifest.md").read_text()):
        assert "stations.parquet (points; licence: CC0 1.0; SHA-256" in " ".join(text.split())
    assert "sharpened by `stations.parquet`" in Path("statement.md").read_text()


def test_a_useless_one_is_ignored_and_named_all_the_same(run: Run) -> None:
    """Its release has the counts of one without."""
    west, south, east, north = DOMAIN.bounds
    anywhere = np.random.default_rng(12).uniform((west, south), (east, north), (40, 2))
    pq.write_table(pa.table({"lon": anywhere[:, 0], "lat": anywhere[:, 1]}), "anywhere.parquet")
    release = published(run, "--prior", "anywhere.parquet")

    assert not release.prior.used
    assert release.inference == "belief-2"
    assert "ignored: what was measured is hardly likelier" in " ".join(run("describe", "out.dp.parquet").stdout.split())


def test_an_earlier_release_is_a_prior_that_is_known_by_its_entry(run: Run) -> None:
    """The ledger charges both, and gives back the same bytes for the same request."""
    assert run("ledger", "init", "--dataset", "trips", "--unit", "record", "--budget", "9").exit_code == 0
    charged = ["--dataset", "trips"]
    published(run, *charged, output="old.dp.parquet")
    first = published(run, *charged, "--prior", "old.dp.parquet", output="new.dp.parquet")
    again = run("publish", "points.parquet", *GIVEN, *charged, "--prior", "old.dp.parquet", "-o", "again.dp.parquet")
    other = run("publish", "points.parquet", *GIVEN, *charged, "--prior", "stations.parquet", "-o", "x.dp.parquet")

    assert first.prior.name == "old.dp.parquet (entry 1 of the data set 'trips')"
    assert Path("again.dp.parquet").read_bytes() == Path("new.dp.parquet").read_bytes()
    assert "nothing was spent" in again.stderr
    assert "Entry 3 of the ledger" in other.stderr


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (["--prior", "gone.tif"], 3, ("gone.tif does not exist",)),
        (["--prior", "statins.parquet"], 3, ("does not exist", "--prior stations.parquet")),
        (["--prior", "places", "--method", "ag"], 2, ("sharpens releases by staq", "--method staq")),
        (["--prior", "stations.parquet", "--prior-weight", "beds"], 3, ("no column 'beds'", "'seats'")),
        (["--prior-weight", "seats"], 2, ("there is no prior",)),
    ],
)
def test_what_is_wrong_is_said_before_any_row_is_read(run: Run, more: list[str], code: int, words) -> None:
    """By the check as well."""
    Path("points.parquet").unlink()
    assert_refused(run("publish", "points.parquet", *GIVEN, *more, "-o", "out.dp.parquet"), code, *words)


def test_check_says_what_would_be_used(run: Run) -> None:
    result = run("publish", "points.parquet", *GIVEN, "--prior", "places", "--check", "--yes", "-o", "out.dp.parquet")

    assert result.exit_code == 0, result.output
    assert "GeoNames places (places, CC BY 4.0, GeoNames" in " ".join(result.stdout.split())
