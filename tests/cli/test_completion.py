"""Completion, as the shells ask for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hushgrid.cli import main
from hushgrid.methods import METHODS
from tests.cli.commands import Run, parsed

SHELLS = ("bash", "zsh", "fish")
PROTOCOL = {"bash": "bash_complete", "zsh": "zsh_complete", "fish": "fish_complete"}

BASH = """
source ./hushgrid.bash
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_hushgrid_completion hushgrid 2> /dev/null
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

# What zsh has at a prompt only is stood in for: the words typed, and the two functions that take the answer.
ZSH = """
compdef() {{ }}
compadd() {{ print -rl -- $completions }}
_describe() {{ print -rl -- $completions_with_descriptions }}
source ./hushgrid.zsh
words=({words})
CURRENT=$#words
_hushgrid_completion
"""


@pytest.fixture
def shell(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the three scripts, and the command on the path."""
    for name in SHELLS:
        (tmp_path / f"hushgrid.{name}").write_text(run("completion", name).stdout)
    command = tmp_path / "bin" / "hushgrid"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m hushgrid "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def answered(*command: str, **environment: str) -> list[str]:
    """Lines that a command prints."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **environment}, stdin=subprocess.DEVNULL
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("hushgrid pu", {"publish"}),
        ("hushgrid ledger ''", {"init", "show", "history", "verify"}),
        ("hushgrid publish trips.csv --method kd", {"kd", "kd-hybrid"}),
        ("hushgrid publish trips.csv --max-p", {"--max-per-user"}),
        ("hushgrid export trips.dp.parquet --to geo", {"geotiff", "geojson"}),
        ("hushgrid completion ''", set(SHELLS)),
    ],
    ids=["command", "command-of-ledger", "method", "option", "format", "shell"],
)
def test_bash_completes(shell: Path, typed: str, expected: set[str]) -> None:
    """The function that the script defines, called as bash calls it."""
    assert set(answered("bash", "-c", BASH.format(words=typed))) == expected


def test_bash_knows_which_command_to_complete(shell: Path) -> None:
    """The script says so by itself when it is read."""
    (line,) = answered("bash", "-c", "source ./hushgrid.bash; complete -p hushgrid")

    assert "_hushgrid_completion" in line


@pytest.mark.parametrize("name", SHELLS)
def test_each_shell_is_told_of_methods_and_files(shell: Path, name: str) -> None:
    """The script's protocol offers all methods, and says that an argument may be a file."""

    def ask(typed: str, word: str) -> str:
        words = {"COMP_WORDS": f"{typed} {word}", "COMP_CWORD": word if name == "fish" else str(len(typed.split()))}
        return "\n".join(answered("hushgrid", _HUSHGRID_COMPLETE=PROTOCOL[name], **words))

    methods = ask("hushgrid publish trips.csv --method", "")
    assert all(method in methods for method in METHODS)
    assert "file" in ask("hushgrid publish", "tri")
    assert "file" in ask("hushgrid query", "tri")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes(shell: Path) -> None:
    """The function that the script defines, called as zsh calls it."""
    (line,) = answered("zsh", "-f", "-c", ZSH.format(words="hushgrid veri"))

    assert line.startswith("verify:")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(shell: Path) -> None:
    """The shell fish completes the command by its own means."""
    lines = answered("fish", "--no-config", "-c", "source ./hushgrid.fish; complete -C 'hushgrid pu'")

    assert [line.split("\t")[0] for line in lines] == ["publish"]


def test_no_option_of_a_name_or_path_is_without_completion() -> None:
    """Every parameter called a file, path or method can be completed by the shell."""
    for command in main.commands.values():
        for parameter in command.params:
            if parameter.name in {"points", "file", "files", "output", "method", "methods", "ledger"}:
                context = parsed(command, [], resilient=True)
                assert parameter.shell_complete(context, ""), (command.name, parameter.name)
