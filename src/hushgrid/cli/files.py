"""Files, standard streams and progress of the commands."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from hushgrid.cli.text import warn
from hushgrid.errors import ArgumentError, HushgridError
from hushgrid.text import several

if TYPE_CHECKING:
    from hushgrid.slices.slices import Slices
    from hushgrid.synopsis.synopsis import Synopsis
    from hushgrid.work import Progress, Stage


STANDARD_INPUT = "-"


def check_input(path: Path) -> None:
    """Refuse pipes and devices, which may never end.

    ``-`` is standard input, which ends when its writer does.
    """
    from hushgrid.files.paths import IRREGULAR, irregularity

    if str(path) != STANDARD_INPUT and irregularity(path) == IRREGULAR:
        msg = f"it {IRREGULAR}. Give a file, or - to read standard input."
        raise ArgumentError(msg)


STANDARD_OUTPUT = "-"
RELEASE = (".parquet", ".geoparquet", ".pq")


def check_output(
    path: Path, *, overwrite: bool, endings: tuple[str, ...], is_text: bool = False, name: str = "output"
) -> None:
    """Refuse a path that cannot be written to or misleads.

    A name misleads if its ending says that the file is something else.
    """
    from hushgrid.files.paths import check_target

    if str(path) == STANDARD_OUTPUT:
        if sys.stdout.isatty() and not is_text:
            msg = "-o - writes to standard output, which is the terminal here. Redirect it to a file, or give a path."
            raise ArgumentError(msg)
        return
    _refuse_blank(path, f"result{endings[0]}")
    if path.suffix and not path.name.lower().endswith(endings):
        msg = f"--{name} must end in {' or '.join(endings)}, got {path}."
        raise ArgumentError(msg, instead={name: path.with_suffix(endings[0])})
    check_target(path, overwrite=overwrite)


def _refuse_blank(path: Path, name: str) -> None:
    """Refuse a blank of the help text as a path, such as HTML|-."""
    context = click.get_current_context(silent=True)
    options = [] if context is None else [each for each in context.command.params if "--output" in each.opts]
    for blank in (option.metavar or "" for option in options):
        if str(path) in (blank, blank.partition("|")[0]):
            msg = f"--output {path} is a blank to fill in: give the name of a file."
            raise ArgumentError(msg, instead={"output": name})


def check_release_output(path: Path, *, overwrite: bool) -> None:
    """Refuse a path that cannot take a release.

    A release is paid for, so it goes to a file that appears whole.
    """
    if str(path) == STANDARD_OUTPUT:
        msg = "a release is written to a file, not to standard output: if a pipe broke, its budget would be lost."
        raise ArgumentError(msg, instead={"output": "RELEASE.dp.parquet"})
    check_output(path, overwrite=overwrite, endings=RELEASE)


@contextmanager
def result_path(output: Path, ending: str) -> Iterator[Path]:
    """Where to write a result.

    Its path is printed afterwards; for ``-``, the whole result.
    """
    if str(output) != STANDARD_OUTPUT:
        yield output
        click.echo(output)
        return
    with TemporaryDirectory(prefix="hushgrid-") as folder:
        path = Path(folder) / f"result{ending}"
        yield path
        with path.open("rb") as result:
            shutil.copyfileobj(result, sys.stdout.buffer)


NAME = "standard input"
ENDINGS = {b"PAR1": ".parquet", b"\x1f\x8b": ".csv.gz"}  # by the first bytes of the content; anything else is CSV

Place = TypeVar("Place")


@contextmanager
def on_disk(place: Place, *, can_be_resumed: bool = False) -> Iterator[Place | Path]:
    """The place, or a copy of standard input.

    ``-`` is standard input. The copy is removed afterwards.

    Privacy
    -------
    The copy lies in the system's folder for temporary files, readable by its owner alone.
    """
    if str(place) != STANDARD_INPUT:
        yield place
        return
    if can_be_resumed:
        msg = "a run with --dataset that is cut off goes on with the same points, and standard input is gone by then. "
        msg += "Save it to a file first."
        raise ArgumentError(msg, instead={"points": "POINTS.csv"})
    if sys.stdin.isatty():
        msg = "- reads standard input, which is the keyboard here. Pipe a file into the command, or give its path."
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


def read_release(path: Path, name: str | None = None) -> "Synopsis":
    """The release in a file, or one slice of it.

    Parameters
    ----------
    path : Path
        ``-`` is standard input.
    name : str, optional
        What ``--slice`` says; files of slices need it, and others have none.
    """
    from hushgrid.slices.slices import Slices

    found, _ = read_any(path)
    if isinstance(found, Slices):
        return one_slice(found, path, name)
    refuse_slices(path, name)
    return found


def read_any(path: Path) -> "tuple[Synopsis | Slices, str]":
    """The release or the slices in a file, and the library's version.

    ``-`` is standard input. If the release is a simulation, a warning says so.
    """
    from hushgrid.slices.files import SlicedFile, open_saved

    with on_disk(path) as file, open_saved(file) as saved:
        found = saved.slices() if isinstance(saved, SlicedFile) else saved.synopsis()
        library = saved.footer.library
    if found.simulation:
        warn_of_simulation()
    return found, library


def one_slice(slices: "Slices", path: Path, name: str | None) -> "Synopsis":
    """The slice of a file that is named, under the guarantee of all."""
    from hushgrid.slices.slices import few

    if name is not None:
        return slices.shown(name)
    context = click.get_current_context(silent=True)
    options = [] if context is None else [option for each in context.command.params for option in each.opts]
    held = f"{path} holds {several(len(slices), 'slice')}: {few(slices.names)}."
    if "--slice" in options:
        msg = f"{held} Name the one that is wanted: --slice {slices.names[0]}"
        raise ArgumentError(msg, instead={"slice": slices.names[0]})
    msg = f"{held} This command takes releases without slices. Those that take slices: describe, verify, query, map, "
    msg += "serve, sample, export, compare, manifest."
    raise ArgumentError(msg)


def refuse_slices(path: Path, name: str | None, *, each: bool = False) -> None:
    """Refuse to choose among the slices of a release that has none."""
    if name is not None or each:
        msg = f"{path} is one release and has no slices. Leave out {'--each' if each else '--slice'}."
        raise ArgumentError(msg)


def warn_of_simulation() -> None:
    """Warn that a file's noise came from a seed."""
    warn("this file is a simulation: its noise came from a seed. It protects nobody and is not a release.")


STAGES: "dict[Stage, str]" = {
    "reading": "Reading points",
    "bounding": "Choosing records of each user",
    "counting": "Counting",
    "inference": "Inference",
    "intervals": "Finding the width of intervals",
    "writing": "Writing",
}


class Bar(NamedTuple):
    """What shows progress: told per cents, and stages."""

    progress: "Progress | None" = None
    tell_stage: "Callable[[Stage], None] | None" = None


@contextmanager
def progress_bar() -> Iterator[Bar]:
    """A bar on stderr, over all work of a release.

    Privacy
    -------
    It shows whole per cents, the same ones whatever the points are. It shows no remaining time and no speed: with
    these, a picture of the terminal would tell how large the table is.
    """
    if not sys.stderr.isatty():
        yield Bar()
        return
    from rich import progress
    from rich.console import Console

    columns = progress.TextColumn("{task.description}"), progress.BarColumn(), progress.TaskProgressColumn()
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Publishing points", total=1.0)
        yield Bar(
            progress=lambda share: bar.update(task, completed=share),
            tell_stage=lambda stage: bar.update(task, description=STAGES[stage], refresh=True),
        )
