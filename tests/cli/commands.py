"""What the tests of the command line share besides fixtures."""

from collections.abc import Callable

import click
from click.testing import Result

import hushgrid as hg
from hushgrid.cli import main

ROWS = 41_387  # a number that nothing else in an output looks like
DOMAIN = hg.Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)

Run = Callable[..., Result]


def parsed(command: click.Command, arguments: list[str], *, resilient: bool = False) -> click.Context:
    """Arguments as a command understands them below `hushgrid`; by itself it would forget ``-h`` for good."""
    above = click.Context(main, info_name="hushgrid", **main.context_settings)
    return command.make_context(command.name, arguments, parent=above, resilient_parsing=resilient)


def assert_refused(result: Result, code: int, *words: str) -> None:
    """The exit code, one line on stderr that holds the words, a better command if any, and nothing on stdout."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    said, *better = result.stderr.splitlines()
    assert said.startswith("hushgrid: error: ")
    assert all(line.startswith("Try: hushgrid ") for line in better)
    assert len(better) <= 1
    for word in words:
        assert word in result.stderr
