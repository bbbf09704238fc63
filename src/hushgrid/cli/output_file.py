"""Files and standard output that a command writes its result to."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from hushgrid.errors import ArgumentError

STANDARD_OUTPUT = "-"
RELEASE = (".parquet", ".geoparquet", ".pq")


def check_output(path: Path, *, overwrite: bool, endings: tuple[str, ...], is_text: bool = False) -> None:
    """Refuse a path that cannot be written to, or whose name says that it is something else."""
    from hushgrid.files.paths import check_target

    if str(path) == STANDARD_OUTPUT:
        if sys.stdout.isatty() and not is_text:
            msg = "-o - is standard output, and that is the terminal here. Send it to a file, or give a path."
            raise ArgumentError(msg)
        return
    if path.suffix and not path.name.lower().endswith(endings):
        msg = f"--output must be a name that ends in {' or '.join(endings)}, got {path}."
        raise ArgumentError(msg, instead={"output": path.with_suffix(endings[0])})
    check_target(path, overwrite=overwrite)


def check_release_output(path: Path, *, overwrite: bool) -> None:
    """The same for a release, which is paid for and so goes to a file that appears whole."""
    if str(path) == STANDARD_OUTPUT:
        msg = "a release is written to a file, not to standard output: what it cost is lost if a pipe breaks."
        raise ArgumentError(msg, instead={"output": "RELEASE.dp.parquet"})
    check_output(path, overwrite=overwrite, endings=RELEASE)


@contextmanager
def result_path(output: Path, ending: str) -> Iterator[Path]:
    """Where to write a result; its path is printed, or for ``-`` the whole result."""
    if str(output) != STANDARD_OUTPUT:
        yield output
        click.echo(output)
        return
    with TemporaryDirectory(prefix="hushgrid-") as folder:
        path = Path(folder) / f"result{ending}"
        yield path
        with path.open("rb") as result:
            shutil.copyfileobj(result, sys.stdout.buffer)
