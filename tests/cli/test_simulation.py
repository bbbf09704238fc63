"""A simulated file is marked wherever it is read."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import Run

COMMANDS = {
    "query": ["query", "--rect", "-74,40,-73,41"],
    "query as CSV": ["query", "--rect", "-74,40,-73,41", "--csv"],
    "query as JSON": ["query", "--rect", "-74,40,-73,41", "--json"],
    "describe": ["describe"],
    "describe as JSON": ["describe", "--json"],
    "verify": ["verify"],
    "verify as JSON": ["verify", "--json"],
}
MARK = "hushgrid: warning: this file is a simulation"


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS.keys())
def test_every_command_says_so_on_stderr(run: Run, simulated: Path, release: Path, arguments: list[str]) -> None:
    """The mark is beside the result, once, and only for a simulation."""
    command, *options = arguments

    result = run(command, simulated, *options)
    assert result.stderr.count(MARK) == 1
    assert MARK not in run(command, release, *options).stderr
    if "--json" in options:
        json.loads(result.stdout)


def test_json_carries_the_mark(run: Run, simulated: Path) -> None:
    """A program that reads stdout alone sees it, too."""
    assert json.loads(run("query", simulated, "--rect", "-74,40,-73,41", "--json").stdout)["simulation"] is True
    assert json.loads(run("describe", simulated, "--json").stdout)["simulation"] is True


def test_a_simulation_does_not_verify_as_a_release(run: Run, simulated: Path) -> None:
    """A simulation is not a release: the exit code is 3."""
    assert run("verify", simulated).exit_code == 3


def test_no_command_takes_a_seed(run: Run) -> None:
    """A release cannot be made from a seed."""
    assert "seed" not in run("publish", "--help").stdout
