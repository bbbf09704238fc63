"""What a timer would run: the command in the unit of systemd, and the one in the workflow of GitHub."""

import configparser
import os
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest
import yaml

from hushgrid.cli import main
from hushgrid.cli.commands.publish import publish_command
from hushgrid.periods import Period
from tests.docs.page import ROOT

PAGE = (ROOT / "docs" / "how-to" / "every-month.md").read_text()


def blocks(language: str) -> list[str]:
    """Blocks of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def unit(text: str) -> configparser.ConfigParser:
    """A file of systemd, in which a percent sign is two."""
    parser = configparser.ConfigParser(interpolation=None, delimiters="=")
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # its keys have capitals
    parser.read_string(text)
    return parser


@pytest.fixture
def arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a program in the place of hushgrid writes what it was given."""
    program = tmp_path / "hushgrid"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/arguments\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path / "arguments"


def last_month() -> str:
    """The month before this one."""
    return f"{datetime.now(UTC).astimezone().replace(day=1) - timedelta(days=1):%Y-%m}"


def check(arguments: Path, period: str) -> None:
    """The command is one that publish understands, for that month."""
    publish, *given = arguments.read_text().splitlines()
    above = click.Context(main, **main.context_settings)  # by itself the command would forget -h for good
    values = publish_command.make_parser(click.Context(publish_command, parent=above)).parse_args(given)[0]

    assert (publish, values["config"], values["period"]) == ("publish", "release.toml", period)
    assert Period.parse(period).kind == "month"


def test_systemd_publishes_the_month_before(arguments: Path) -> None:
    """As its shell runs it."""
    service, timer = map(unit, blocks("ini"))
    command = service["Service"]["ExecStart"].replace("%%", "%")
    shell = re.fullmatch(r"/bin/sh -c '(.*)'", command)
    assert shell is not None
    subprocess.run(["/bin/sh", "-c", shell[1]], check=True)

    check(arguments, last_month())
    assert timer["Timer"]["OnCalendar"] == "*-*-02 03:00"


@pytest.mark.parametrize("period", ["", "2026-03"])
def test_a_workflow_publishes_the_month_before_or_the_one_asked_for(arguments: Path, period: str) -> None:
    """The last step, in a shell, with the environment of the job."""
    (text,) = blocks("yaml")
    job = yaml.safe_load(text)["jobs"]["publish"]
    subprocess.run(["bash", "-c", job["steps"][-1]["run"]], check=True, env={**os.environ, "PERIOD": period})

    check(arguments, period or last_month())
    assert set(job["env"]) == {"HUSHGRID_LEDGER", "PERIOD"}
