"""A notebook run from top to bottom: `python -m tests.notebooks.notebook examples/*.ipynb` keeps what they print."""

import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

LONGEST_CELL = 600  # seconds; a cell that takes longer hangs
FRAME = re.compile("<iframe.*?</iframe>", re.DOTALL)
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def executed(path: Path, folder: Path) -> NotebookNode:
    """The notebook as it is after a run in a folder, with the commands of this environment."""
    notebook = nbformat.read(path, as_version=4)
    kept = dict(os.environ)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    os.environ["IPYTHONDIR"] = str(folder)  # nothing of somebody's own settings
    try:
        resources = {"metadata": {"path": str(folder)}}
        NotebookClient(
            notebook, timeout=LONGEST_CELL, record_timing=False, coalesce_streams=True, resources=resources
        ).execute()
    finally:
        os.environ.clear()
        os.environ.update(kept)
    return notebook


def without_frames(notebook: NotebookNode) -> NotebookNode:
    """The notebook without its maps: each is a whole page, and code hosts do not show it."""
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        data = output.get("data", {})
        if text := FRAME.sub("", data.pop("text/html", "")):
            data["text/html"] = text
    return notebook


def anonymous(notebook: NotebookNode, name: str) -> NotebookNode:
    """The notebook without a trace of who ran it and when; its cells are numbered."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(notebook.cells, start=1):
        cell.metadata = NotebookNode()
        cell.id = f"{name}-{number:02}"
    return notebook


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(anonymous(without_frames(executed(path, Path(folder))), path.stem), path)
