"""Standard input as a file that can be read more than once."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TypeVar

from hushgrid.cli.input_file import STANDARD_INPUT
from hushgrid.errors import ArgumentError, HushgridError

NAME = "standard input"
ENDINGS = {b"PAR1": ".parquet", b"\x1f\x8b": ".csv.gz"}  # by how the content begins; anything else is CSV

Place = TypeVar("Place")


@contextmanager
def on_disk(place: Place) -> Iterator[Place | Path]:
    """The place itself, or for ``-`` a copy of standard input, which is removed in the end.

    Privacy
    -------
    The copy lies in the system's folder for temporary files, readable by its owner alone.
    """
    if str(place) != STANDARD_INPUT:
        yield place
        return
    if sys.stdin.isatty():
        msg = "- is standard input, and that is the keyboard here. Pipe a file into the command, or give its path."
        raise ArgumentError(msg)
    content = sys.stdin.buffer
    start = content.read(4)
    ending = next((ending for magic, ending in ENDINGS.items() if start.startswith(magic)), ".csv")
    with NamedTemporaryFile(prefix="hushgrid-", suffix=ending) as copy:
        copy.write(start)
        shutil.copyfileobj(content, copy)
        copy.flush()
        try:
            yield Path(copy.name)
        except HushgridError as error:
            raise type(error)(error.complaint.replace(copy.name, NAME), instead=error.instead) from None


def check_one_reader(**readers: object) -> None:
    """Refuse to read two things from standard input."""
    given = [name for name, place in readers.items() if str(place) == STANDARD_INPUT]
    if len(given) > 1:
        msg = f"only one of {' and '.join(given)} can be read from standard input (-). Give a file for the other."
        raise ArgumentError(msg)
