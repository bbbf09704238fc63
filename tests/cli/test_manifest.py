"""`hushgrid manifest`: a page about a release, and the account of its ledger."""

import hashlib
import json
from pathlib import Path

import pytest

import hushgrid as hg
from tests.cli.commands import DOMAIN, Run, assert_refused

GIVEN = ("--publisher", "City of Springfield", "--contact", "us@springfield.example", "--purpose", "Bus lines")


@pytest.fixture
def charged(run: Run, points_file: Path) -> Path:
    """A release on the account of a ledger in the current folder."""
    run("ledger", "init", "--dataset", "trips", "--budget", "3", "--unit", "record")
    path = Path("out.dp.parquet")
    hg.publish(
        points_file,
        domain=DOMAIN,
        epsilon="0.25",
        method="ug",
        calibrate=False,
        ledger="hushgrid.ledger",
        dataset="trips",
    ).save(path)
    return path


def test_markdown_is_printed_and_files_are_written(run: Run, release: Path) -> None:
    """The command writes what Python makes of the same arguments; stdout has the path alone."""
    known = {"publisher": GIVEN[1], "contact": GIVEN[3], "purpose": GIVEN[5], "date": "2026-03-31", "language": "de"}
    options = (*GIVEN, "--date", "2026-03-31", "--language", "de")
    statement = hg.manifest(release, **known)

    assert run("manifest", release, *options).stdout == str(statement)
    for name, text in {"a.html": statement.to_html(), "a.md": statement.to_markdown()}.items():
        result = run("manifest", release, *options, "-o", name)
        assert (result.exit_code, result.stdout, result.stderr) == (0, f"{name}\n", "")
        assert Path(name).read_text(encoding="utf-8") == text


def test_json_holds_the_same_values(run: Run, release: Path) -> None:
    """They come back through a parser as the library has them."""
    parsed = json.loads(run("manifest", release, *GIVEN, "--json").stdout)

    assert parsed == json.loads(json.dumps(hg.manifest(release, publisher=GIVEN[1]).to_dict())) | {
        "contact": GIVEN[3],
        "purpose": GIVEN[5],
    }
    assert parsed["sha256"] == hashlib.sha256(release.read_bytes()).hexdigest()
    assert parsed["date"] is None


@pytest.mark.parametrize("options", [("--dataset", "trips"), ("--ledger", "hushgrid.ledger")], ids=" ".join)
def test_the_state_of_the_ledger_is_told(run: Run, charged: Path, options: tuple[str, ...]) -> None:
    """Budget, spent and left, as `ledger show` has them."""
    shown = json.loads(run("ledger", "show", "--json").stdout)
    said = " ".join(run("manifest", charged, *options).stdout.replace("\u00a0", " ").split())
    balance = json.loads(run("manifest", charged, *options, "--json").stdout)["ledger"]["balance"]

    assert "entry 1 of the ledger of the data set `trips`, which knows the file by its SHA-256" in said
    assert "and cost ε = 0.25" in said
    assert "together may cost 3: 0.25 is spent, 0 set aside for unfinished ones, 2.75 left" in said
    assert shown["head"] in said
    assert balance["head"] == shown["head"]


def test_a_ledger_that_does_not_know_the_file_is_refused(run: Run, charged: Path, release: Path) -> None:
    """An altered file, a release on no account, another data set, no ledger."""
    synopsis = hg.read(charged)
    other = hg.publish([[-74.0, 40.7]], domain=DOMAIN, epsilon=1, method="uniform", calibrate=False)
    other.save("other.dp.parquet")
    object.__setattr__(other, "ledger", synopsis.ledger)
    other.save("forged.dp.parquet")

    assert_refused(run("manifest", "forged.dp.parquet", "--dataset", "trips"), 5, "does not know forged.dp.parquet")
    assert_refused(run("manifest", "other.dp.parquet", "--dataset", "trips"), 2, "charged to no ledger")
    assert_refused(run("manifest", charged, "--dataset", "tripz"), 2, "'trips'", "Try: hushgrid manifest")
    assert_refused(run("manifest", charged, "--ledger", "none.ledger"), 5, "none.ledger")
    assert "entry 1" in run("manifest", charged).stdout


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("-o", "a.pdf"), 2, ".html or .md"),
        (("--language", "klingon"), 2, "en, de, fr, es"),
        (("--language", "my.toml"), 3, "the key 'decimal' is missing"),
        (("--publisher", "x" * 101), 2, "publisher"),
        (("-o", "a.md", "--json"), 2, "--json"),
    ],
    ids=["ending", "language", "own language", "too long", "json"],
)
def test_mistakes_are_refused(run: Run, release: Path, options: tuple[str, ...], code: int, words: str) -> None:
    """With the option or the key named, and nothing written."""
    Path("my.toml").write_text('lang = "my"\n')

    assert_refused(run("manifest", release, *options), code, words)
    assert not list(Path().glob("a.*"))


def test_a_simulation_and_standard_input_have_no_statement(run: Run, simulated: Path, release: Path) -> None:
    """The first promises nothing, the second has no name."""
    assert_refused(run("manifest", simulated), 2, "simulated")
    assert_refused(run("manifest", "-", stdin=release.read_bytes()), 2, "has no name")
