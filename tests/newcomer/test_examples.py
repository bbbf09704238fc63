"""The examples that end every help text are commands that work."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hushgrid.cli import main
from tests.cli.commands import parsed
from tests.docs.made_files import make
from tests.newcomer.desk import hushgrid

TOO_LONG = {"audit", "serve", "demo"}  # that end late or never: they are parsed, and run by tests of their own
AREAS = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {"name": "midtown"},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[-74, 40.7], [-73.9, 40.7], [-73.9, 40.8], [-74, 40.8], [-74, 40.7]]],
            },
        }
    ],
}


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with its names, those of groups too."""
    for name, command in group.commands.items():
        yield (*names, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)


def examples(command: click.Command) -> list[str]:
    """The lines of a help text that begin with the name of the program, at its end."""
    assert command.epilog is not None, command.name
    return [line.strip() for line in command.epilog.splitlines() if line.strip().startswith("hushgrid ")]


ALL = {" ".join(names): command for names, command in commands(main)}
LINES = [line for command in [main, *ALL.values()] for line in examples(command)]


@pytest.mark.parametrize("name", ALL)
def test_every_help_text_ends_with_examples(name: str) -> None:
    """The last line of every help text is an example of the command."""
    shown = hushgrid(f"hushgrid {name} --help").stdout.rstrip().splitlines()

    assert shown[-1].strip().startswith(f"hushgrid {name}")


@pytest.mark.parametrize("name", ["publish", "ledger init"])
def test_help_is_a_word_too(name: str) -> None:
    """`hushgrid help COMMAND` is `hushgrid COMMAND --help`."""
    assert hushgrid(f"hushgrid help {name}").stdout == hushgrid(f"hushgrid {name} --help").stdout


@pytest.mark.parametrize("line", [line for line in dict.fromkeys(LINES) if line.split()[1] in TOO_LONG])
def test_long_examples_are_understood(line: str) -> None:
    """By the parser of the command."""
    name, *arguments = shlex.split(line)[1:]

    assert parsed(ALL[name], arguments).params


@pytest.mark.parametrize("line", [line for line in dict.fromkeys(LINES) if line.split()[1] not in TOO_LONG])
def test_examples_run(desk: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On files by the names that they use."""
    monkeypatch.setenv("HOME", str(desk))
    for name in ("areas.geojson", "districts.geojson", "land.geojson"):
        Path(name).write_text(json.dumps(AREAS))
    make("counties.geojson")
    for release in ("2026-02.dp.parquet", "2026-03.dp.parquet", "hours.dp.parquet"):
        if release in line:
            make(release)
    if "map months" in line:
        Path("months").mkdir()
        for release in ("2026-02.dp.parquet", "2026-03.dp.parquet"):
            make(release)
            Path(release).rename(Path("months") / release)
    if "counties.dp.parquet" in line:
        options = "--areas counties.geojson --levels state,county --epsilon 1"
        hushgrid(f"hushgrid publish trips.parquet {options} -o counties.dp.parquet")
    Path("areas.csv").write_text("west,south,east,north\n-74,40.7,-73.9,40.8\n")
    if "publish" in line or "ledger init" in line:
        Path("trips.dp.parquet").unlink()
        Path("hushgrid.ledger").unlink()
    command, _, target = line.replace("--polygons districts.gpkg", "--polygons districts.geojson").partition(" > ")
    if "--head" in command:
        head = json.loads(hushgrid("hushgrid ledger show --json").stdout)["head"]
        command = f"{command.partition('--head')[0]} --head {head}"

    result = hushgrid(command)
    assert result.exit_code == 0, result.stderr
    assert result.stdout or not target
