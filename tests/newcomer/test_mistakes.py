"""A newcomer's mistakes: each message names what was given, what is allowed, and a command that works."""

import shlex
import shutil
from pathlib import Path

import pytest

from tests.newcomer.desk import W_S_E_N, hushgrid
from tests.newcomer.mistakes import MISTAKES, Mistake

ALL = pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)


def test_there_are_twenty() -> None:
    """There are at least twenty mistakes, and no two of them are the same."""
    assert len({mistake.typed for mistake in MISTAKES.values()}) == len(MISTAKES) >= 20


@ALL
def test_a_mistake_is_explained(desk: Path, mistake: Mistake) -> None:
    """By its exit code, one line with the value and the rule, and the command; nothing is on stdout or on disk."""
    before = sorted(desk.iterdir())
    result = hushgrid(mistake.typed)

    said, *_ = result.stderr.splitlines()
    assert (result.exit_code, result.stdout) == (mistake.code, "")
    assert said.startswith("hushgrid: error: ")
    assert mistake.given in said
    assert mistake.allowed in said
    assert mistake.works in result.stderr
    assert sorted(desk.iterdir()) == before


@ALL
def test_the_command_shown_works(desk: Path, mistake: Mistake) -> None:
    """Once what is in capital letters has been filled in."""
    result = hushgrid(mistake.runnable)

    assert result.exit_code == 0, result.stderr


@ALL
def test_a_better_command_stands_on_a_line_of_its_own(desk: Path, mistake: Mistake) -> None:
    """A proposed command is the last thing said, so that it can be copied."""
    lines = hushgrid(mistake.typed).stderr.splitlines()

    assert lines[-1] == f"Try: {mistake.works}" or lines[-1].endswith(f": {mistake.works}")
    assert len(lines) <= 2


@ALL
def test_no_message_depends_on_a_record(
    desk: Path, laid_out: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: Mistake
) -> None:
    """Other records under the same schemas: the same exit code, and the same words."""
    here = hushgrid(mistake.typed)
    monkeypatch.chdir(shutil.copytree(laid_out[1], tmp_path / "other"))
    there = hushgrid(mistake.typed)

    assert (here.exit_code, here.output) == (there.exit_code, there.output)


def test_the_two_desks_differ(laid_out: list[Path]) -> None:
    """Negative control: the records are not the same."""
    here, there = ((folder / "trips.csv").read_text() for folder in laid_out)

    assert here != there


@pytest.mark.parametrize(
    "secret",
    ["postgresql://me:hunter2@localhost/trips?table=points", "trips.parquet --spark-conf spark.key=hunter2"],
    ids=["url", "spark-conf"],
)
def test_no_command_with_a_secret_is_repeated(desk: Path, secret: str) -> None:
    """Passwords on the command line do not come back on stderr, where a log may keep them."""
    result = hushgrid(f"hushgrid publish {secret} --domain 0,0,1,1 --epsilon 1,0 -o new.dp.parquet")

    assert result.exit_code == 2
    assert "hunter2" not in result.stderr


def test_arguments_with_blanks_can_be_copied(desk: Path) -> None:
    """The command shown is quoted for the shell."""
    Path("trips.parquet").rename("my trips.parquet")
    result = hushgrid(
        "hushgrid publish 'my trips.parquet' --domain -74.26,40.48,-73.70,40.92 --epsilon 1,0 -o new.dp.parquet"
    )

    command = result.stderr.splitlines()[-1].removeprefix("Try: ")
    assert shlex.split(command)[2] == "my trips.parquet"


def test_a_dry_run_shows_paths_as_they_are_typed(desk: Path) -> None:
    """Not as Python has them."""
    told = hushgrid(f"hushgrid publish trips.csv --domain {W_S_E_N} --epsilon 1 -o new.gpkg --check").stdout

    assert "Try output='new.parquet'." in told
