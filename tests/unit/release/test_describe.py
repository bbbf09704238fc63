"""What Python's `describe`, `plan` and `verify` print is what the commands print."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import hushgrid as hg
from hushgrid.cli import main

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
PLAN = ("plan", "--domain", "0,0,1,1", "--points-about", "5000", "--epsilon", "1")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small release."""
    path = tmp_path_factory.mktemp("release") / "a.dp.parquet"
    hg.publish([[0.2, 0.7]] * 500, domain=DOMAIN, epsilon=1, method="ug").save(path)
    return path


def printed(*arguments: object) -> str:
    """What a command prints."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments]).stdout


@pytest.mark.parametrize("command", ["describe", "verify"])
def test_releases_are_told_of_alike(release: Path, command: str) -> None:
    """In words and in JSON."""
    told = getattr(hg, command)(release)
    values = json.loads(printed(command, release, "--json"))

    assert printed(command, release) == f"{told}\n" == f"{told!r}\n"
    assert json.loads(json.dumps(told.to_dict())) == {name: values[name] for name in told.to_dict()}
    assert values["file"] == str(release)


def test_plans_are_told_of_alike() -> None:
    """In words and in JSON."""
    planned = hg.plan(DOMAIN, points_about=5000, epsilon=1)

    assert printed(*PLAN) == f"{planned}\n" == f"{planned!r}\n"
    assert json.loads(printed(*PLAN, "--json")) == json.loads(json.dumps(planned.to_dict()))


def test_a_synopsis_is_described_without_a_file(release: Path) -> None:
    """The same values, but for the file and the version that wrote it."""
    of_file, of_synopsis = hg.describe(release).to_dict(), hg.describe(hg.read(release)).to_dict()

    assert {name: of_file[name] for name in of_synopsis} == of_synopsis
    assert set(of_file) - set(of_synopsis) == {"file", "library"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"domain": DOMAIN, "points_about": 10}, "either epsilon or accuracy"),
        ({"domain": DOMAIN, "points_about": 10, "epsilon": 1, "accuracy": 0.1}, "either epsilon or accuracy"),
        ({"domain": DOMAIN, "epsilon": 1}, "points_about"),
        ({"points_about": 10, "epsilon": 1}, "domain"),
        ({"areas": hg.Areas.h3(5), "domain": DOMAIN, "accuracy": 0.1}, "accuracy is about rectangles"),
    ],
    ids=["no budget", "two budgets", "no number", "no domain", "areas"],
)
def test_a_plan_says_what_it_needs(given: dict[str, object], words: str) -> None:
    """Before anything is rehearsed."""
    with pytest.raises(hg.ArgumentError, match=words):
        hg.plan(**given)  # type: ignore[call-overload]


def test_what_is_seldom_needed_is_imported_late() -> None:
    """The file format, the planner and the ledger wait until somebody asks; a wrong name is still an error."""
    code = (
        "import sys, hushgrid as hg\n"
        "late = ['hushgrid.planning', 'hushgrid.files.release', 'hushgrid.ledger.ledger', 'hushgrid.export']\n"
        "assert not set(late) & set(sys.modules), sorted(set(late) & set(sys.modules))\n"
        "assert set(hg.__all__) == set(dir(hg)) and callable(hg.plan) and not hasattr(hg, 'plam')\n"
    )

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr == ""
