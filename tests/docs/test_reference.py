"""The reference has everything: every public name, method and command, and each file that a manifest is made of."""

import re

import click
import pytest
from click.testing import CliRunner

import hushgrid as hg
from docs.help_text import help_text
from hushgrid.cli import main
from hushgrid.methods import ALIASES
from tests.docs.page import ROOT

REFERENCE = ROOT / "docs" / "reference"
PYTHON, METHODS, COMMANDS = ((REFERENCE / f"{name}.md").read_text() for name in ("python", "methods", "command-line"))


def every_command(group: click.Group, before: str = "") -> list[str]:
    """The commands of a group and of the groups in it, as they are typed."""
    names = []
    for name, command in group.commands.items():
        if command.hidden:
            continue
        names.append(f"{before}{name}")
        if isinstance(command, click.Group):
            names += every_command(command, f"{before}{name} ")
    return names


@pytest.mark.parametrize("name", sorted(set(hg.__all__) - {"__version__"}))
def test_every_public_name_is_documented(name: str) -> None:
    """By its docstring, on one of two pages."""
    directive = rf"^\.\. auto(?:function|class|exception):: {name}$|^   :members: {name}$"

    assert re.search(directive, PYTHON + METHODS, re.MULTILINE) or f"`hg.{name}`" in METHODS


@pytest.mark.parametrize("name", hg.METHODS)
def test_every_method_has_a_section(name: str) -> None:
    """With the docstrings of its file and of its class, or of the class where its file has another method, too."""
    method = hg.METHODS[name]
    section = f"### `{name}`\n\n```{{eval-rst}}\n"
    of_file = f".. automodule:: {method.__module__}\n   :members: {method.__name__}\n"
    of_class = f".. autoclass:: {method.__module__}.{method.__name__}\n   :members:\n"

    assert section + of_file in METHODS or (section + of_class in METHODS and f"{method.__module__}\n" in METHODS)


@pytest.mark.parametrize("name", every_command(main))
def test_every_command_has_its_help(name: str) -> None:
    """Under a heading of its own."""
    assert re.search(rf"^##+ hushgrid {name}\n\n```{{help}} {name}\n```$", COMMANDS, re.MULTILINE)


def test_the_help_on_the_site_is_what_is_printed() -> None:
    """The help on the site has the words that are printed, wrapped differently."""
    printed = CliRunner().invoke(main, ["ledger", "verify", "--help"], prog_name="hushgrid").stdout

    assert help_text(["ledger", "verify"]).split() == printed.split()


@pytest.mark.parametrize("variable", ["HUSHGRID_LEDGER", "HUSHGRID_THREADS", "HUSHGRID_DEBUG"])
def test_every_variable_is_documented(variable: str) -> None:
    """Every documented variable is one that the code reads."""
    assert f"`{variable}`" in COMMANDS
    assert any(variable in path.read_text() for path in (ROOT / "src").rglob("*.py"))


def test_the_notation_lists_every_alias() -> None:
    """In the first column of its tables of names, and no other name."""
    names = (REFERENCE.parent / "notation.md").read_text().split("## Names of methods")[1]
    first = [line.split("|")[1] for line in names.splitlines() if line.startswith("| `")]

    assert sorted(re.findall("`([^`]+)`", "".join(first))) == sorted(ALIASES)
