"""A release file, read by a command."""

from pathlib import Path
from typing import TYPE_CHECKING

from hushgrid.cli.notes import warn
from hushgrid.cli.standard_input import on_disk

if TYPE_CHECKING:
    from hushgrid.synopsis.synopsis import Synopsis


def read_release(path: Path) -> "tuple[Synopsis, str]":
    """The synopsis in a file, and the version of the library that wrote it; a simulation is warned of.

    ``-`` is standard input.
    """
    from hushgrid.files.release import open_release

    with on_disk(path) as file, open_release(file) as release:
        synopsis, library = release.synopsis(), release.footer.library
    if synopsis.simulation:
        warn_of_simulation()
    return synopsis, library


def warn_of_simulation() -> None:
    """Say that the noise of a file came from a seed."""
    warn("this file is a simulation: its noise came from a seed. It protects nobody and is not a release.")
