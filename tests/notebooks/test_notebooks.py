"""The notebooks in examples/ run from top to bottom, and hold what they printed when they last did."""

import re
from pathlib import Path

import nbformat
import pytest

from tests.notebooks.notebook import FRAME, METADATA, executed, without_frames

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
# A folder of somebody's machine, wherever it may be.
MACHINE = re.compile(r"/(?:home|root|Users|tmp|work|opt|var|mnt)/|[A-Z]:\\\\|site-packages|ipykernel_\d")
LARGEST = 400_000  # bytes, pictures included

pytestmark = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(notebook):
    """The cells that are run."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook):
    """Everything that was printed, shown or returned."""
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def test_stored_outputs_are_whole(path):
    """Every cell was run, in order, without an error; there are words and pictures, and no more than fits a page."""
    notebook = nbformat.read(path, as_version=4)
    kinds = {kind for output in outputs(notebook) for kind in output.get("data", {})}

    nbformat.validate(notebook)
    assert [cell.execution_count for cell in code_cells(notebook)] == list(range(1, len(code_cells(notebook)) + 1))
    assert not [output for output in outputs(notebook) if output.output_type == "error"]
    assert {"text/plain", "image/png"} <= kinds
    assert path.stat().st_size < LARGEST


def test_nothing_tells_of_the_machine(path):
    """No paths, no times, no names but the kernel's; ids are numbers in order."""
    text = path.read_text()
    notebook = nbformat.read(path, as_version=4)

    assert MACHINE.findall(text) == []
    assert notebook.metadata == METADATA
    assert not any(cell.metadata for cell in notebook.cells)
    assert [cell.id for cell in notebook.cells] == [
        f"{path.stem}-{number:02}" for number in range(1, len(notebook.cells) + 1)
    ]


def test_links_lead_somewhere(path):
    """From examples/ to the documentation."""
    notebook = nbformat.read(path, as_version=4)
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", prose)

    assert targets
    assert [target for target in targets if not (path.parent / target).exists()] == []


@pytest.mark.slow
def test_it_runs(path, tmp_path):
    """In a folder of its own, and every cell shows what it showed before: the same kinds of output, and two maps."""
    stored, notebook = nbformat.read(path, as_version=4), executed(path, tmp_path)
    pages = [output.get("data", {}).get("text/html", "") for output in outputs(notebook)]

    assert sum(len(FRAME.findall(page)) for page in pages) == 2
    without_frames(notebook)
    for cell, before in zip(code_cells(notebook), code_cells(stored), strict=True):
        assert [kind(output) for output in cell.outputs] == [kind(output) for output in before.outputs], cell.id


def kind(output):
    """What sort of output it is: a stream by its name, data by their types."""
    return output.get("name") or sorted(output.get("data", {}))
