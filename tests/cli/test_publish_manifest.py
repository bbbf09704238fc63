"""`hushgrid publish --manifest`: papers beside the release."""

import hashlib
from pathlib import Path

import yaml

from tests.cli.commands import Run, assert_refused

RELEASE, MANIFEST, REGISTRY = map(Path, ("out.dp.parquet", "out.dp.manifest.md", "out.dp.registry.yaml"))


def test_papers_are_written_beside_the_release(publish: Run) -> None:
    """Both state the hash of the file; stdout has the release alone."""
    result = publish("--manifest", "--method", "ug")
    sha256 = hashlib.sha256(RELEASE.read_bytes()).hexdigest()

    assert result.exit_code == 0
    assert result.stdout == f"{RELEASE}\n"
    assert f"wrote {MANIFEST}\nwrote {REGISTRY}\n" in result.stderr
    assert sha256 in MANIFEST.read_text()
    assert "can be at most **73 %** sure afterwards" in MANIFEST.read_text()
    assert sha256 in yaml.safe_load(REGISTRY.read_text())["deployment"]["implementation"]["mechanisms"]


def test_papers_in_the_way_are_found_before_anything_is_spent(publish: Run, run: Run) -> None:
    """No release, no entry, and the file that was there stays."""
    run("ledger", "init", "--dataset", "trips", "--budget", "1", "--unit", "record")
    REGISTRY.write_text("mine")
    result = publish("--manifest", "--dataset", "trips")

    assert_refused(result, 2, str(REGISTRY), "--overwrite")
    assert REGISTRY.read_text() == "mine"
    assert not RELEASE.exists()
    assert "given up" not in run("ledger", "history").stdout


def test_a_release_that_is_given_back_gets_its_papers_too(publish: Run, run: Run) -> None:
    """They can be had later, at no cost."""
    run("ledger", "init", "--dataset", "trips", "--budget", "1", "--unit", "record")
    first, again = (
        publish("--dataset", "trips", "--method", "ug", *more) for more in ([], ["--manifest", "--overwrite"])
    )

    assert (first.exit_code, again.exit_code) == (0, 0)
    assert "nothing was spent" in again.stderr
    assert "entry 1 of the data set `trips`" in MANIFEST.read_text()
