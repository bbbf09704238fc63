"""The README tells the truth: its code runs, and it names every method and command."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushgrid.cli import main
from hushgrid.methods import METHODS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(language):
    """Code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.fixture
def trips(tmp_path, monkeypatch):
    """A folder with the file that the README speaks of."""
    points = np.random.default_rng(0).normal((-73.97, 40.75), 0.03, (2000, 2))
    pq.write_table(pa.table({"lon": points[:, 0], "lat": points[:, 1]}), tmp_path / "trips.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_python_of_the_readme_runs(trips, capsys):
    """And prints an estimate between its bounds."""
    (code,) = blocks("python")
    exec(compile(code, "README.md", "exec"), {})

    estimate, low, high = (int(text.replace(",", "")) for text in re.findall(r"[\d,]*\d", capsys.readouterr().out))
    assert low <= estimate <= high
    assert (trips / "trips.dp.parquet").exists()


def test_the_shell_of_the_readme_runs(trips):
    """Every line that begins with hushgrid, in order."""
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("hushgrid ")]
    assert len(lines) == 5

    for line in lines:
        done = subprocess.run([sys.executable, "-m", *shlex.split(line)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_in_the_readme_and_has_a_privacy_argument(name):
    """By its name."""
    arguments = (ROOT / "docs" / "privacy.md").read_text()

    assert f"`{name}`" in README
    assert f"`{name}`" in arguments


@pytest.mark.parametrize("name", main.commands)
def test_every_command_is_documented(name):
    """In the README or in docs/."""
    assert any(f"hushgrid {name}" in document.read_text() for document in DOCUMENTS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document):
    """Files that are linked to exist."""
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", document.read_text())

    assert [target for target in targets if not (document.parent / target).exists()] == []
