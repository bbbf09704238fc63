"""`hushgrid verify`: whether a release contradicts itself."""

import json
from pathlib import Path

import pytest

from hushgrid.release.verify import verify
from tests.cli.commands import Run, assert_refused


def test_a_sound_release_passes(run: Run, release: Path) -> None:
    """Every check is listed, and what passing means is said beside the result."""
    result = run("verify", release)

    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["ok"] * len(verify(release).checks)
    assert "consistent" in result.stderr
    assert "Only its publisher can vouch" in result.stderr


def test_a_contradiction_ends_with_code_3_and_is_named(run: Run, contradictory: Path) -> None:
    """The failed check stands in the list and in the error; the others pass."""
    result = run("verify", contradictory)

    failed = [line.split()[1] for line in result.stdout.splitlines() if line.startswith("FAILED")]
    assert result.exit_code == 3
    assert failed == ["counts"]
    assert result.stderr.startswith(f"hushgrid: error: {contradictory} failed these checks: counts (")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(("fixture", "code"), [("release", 0), ("contradictory", 3)])
def test_json_holds_every_check(run: Run, request: pytest.FixtureRequest, fixture: str, code: int) -> None:
    """JSON holds the checks of the library, whether they pass or not."""
    file = request.getfixturevalue(fixture)

    result = run("verify", file, "--json")
    parsed = json.loads(result.stdout)
    assert result.exit_code == code
    assert parsed["ok"] is (code == 0)
    assert parsed["checks"] == [vars(check) for check in verify(file).checks]


@pytest.mark.parametrize("command", ["query", "describe", "verify"])
@pytest.mark.parametrize(
    ("name", "content"),
    [("missing.parquet", None), ("text.parquet", b"lon,lat\n1,2\n"), ("cut.parquet", b"PAR1"), ("none.parquet", b"")],
    ids=["missing", "another format", "cut short", "empty"],
)
def test_what_is_no_release_is_refused(run: Run, command: str, name: str, content: bytes | None) -> None:
    """Every command that reads a release ends with exit code 3 and one line that names the file."""
    if content is not None:
        Path(name).write_bytes(content)
    options = ["--rect", "0,0,1,1"] if command == "query" else []

    assert_refused(run(command, name, *options), 3, name)


@pytest.mark.parametrize("command", ["query", "describe", "verify"])
def test_a_table_of_points_is_no_release(run: Run, command: str, points_file: Path) -> None:
    """Parquet that hushgrid did not write is refused, and nothing of it is shown."""
    options = ["--rect", "0,0,1,1"] if command == "query" else []

    assert_refused(run(command, points_file, *options), 3, "not a release")
