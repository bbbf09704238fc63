"""The types that users see: what they write is accepted, and their mistakes are found before anything runs."""

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hushgrid as hg

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
USAGE, MISUSE = HERE / "api_usage.py", HERE / "api_misuse.py"
EXPECTED = re.compile(r"# error: ([\w-]+)$")
FOUND = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+): error: .*\[(?P<code>[\w-]+)\]$", re.MULTILINE)


@pytest.fixture(scope="module")
def found():
    """File, line and code of everything that mypy --strict finds in the two files."""
    command = (sys.executable, "-m", "mypy", "--strict", USAGE.relative_to(ROOT), MISUSE.relative_to(ROOT))
    # By the paths of `make check`, whose cache then serves here too.
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "MYPYPATH": "src"}, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return {(Path(error["file"]).name, int(error["line"]), error["code"]) for error in FOUND.finditer(done.stdout)}


def test_what_users_write_is_accepted(found):
    """Every type is the one stated."""
    assert [error for error in sorted(found) if error[0] == USAGE.name] == []


def test_mistakes_are_found(found):
    """Each on its line, by its kind, and no other."""
    lines = enumerate(MISUSE.read_text().splitlines(), start=1)
    expected = {(MISUSE.name, number, match[1]) for number, line in lines if (match := EXPECTED.search(line))}

    assert {error for error in found if error[0] == MISUSE.name} == expected
    assert len(expected) > 20


def test_every_public_name_is_used():
    """The example uses every public name, so that none escapes the check."""
    names = {
        node.attr
        for node in ast.walk(ast.parse(USAGE.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "hg"
    }

    assert names == set(hg.__all__)


def test_every_argument_of_publish_is_used():
    """The example passes every argument of publish by its name."""
    calls = [node for node in ast.walk(ast.parse(USAGE.read_text())) if isinstance(node, ast.Call)]
    used = {
        keyword.arg
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "publish"
        for keyword in call.keywords
    }
    arguments = set(inspect.signature(hg.publish).parameters) - {"points"}

    assert used == arguments
