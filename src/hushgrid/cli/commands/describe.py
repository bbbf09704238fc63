"""``hushgrid describe`` and ``hushgrid verify``: what a release promises, and whether it contradicts itself."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hushgrid.cli.files import on_disk, read_any, warn_of_simulation
from hushgrid.cli.parameters import example
from hushgrid.cli.text import as_json, note
from hushgrid.errors import SynopsisFileError
from hushgrid.text import labelled

if TYPE_CHECKING:
    from hushgrid.slices.slices import Slices
    from hushgrid.synopsis.synopsis import Synopsis


def summarise(release: "Synopsis | Slices") -> None:
    """Say what was published, from released values alone."""
    from hushgrid.release.describe import SlicesDescription, describe
    from hushgrid.slices.slices import Slices
    from hushgrid.synopsis.facts import Facts

    is_sliced = isinstance(release, Slices)
    described = describe(release)
    synopsis = release.shown() if isinstance(release, Slices) else release
    facts, words = Facts.of(synopsis), described.in_words()
    said = {
        **({"slices": words["slices"]} if is_sliced else {}),
        "total": words["total"],
        "method": f"{facts.method.name}: {_gist(facts.method.name)}",
        "made by": facts.how_made,
        "structure": words["structure"],
        "guarantee": facts.claim.sentence,
        **({"prior": facts.prior} if facts.prior else {}),
        **({"counts": facts.meaning} if facts.caveats else {}),
    }
    note(labelled(said))
    if isinstance(described, SlicesDescription):
        note(f"\n{described.table()}\n")


def _gist(method: str) -> str:
    """What a method does, in a line for a steward."""
    from hushgrid.methods import METHODS
    from hushgrid.methods.areas import Areas

    return METHODS[method].gist if method in METHODS else Areas.gist


def suggest(release: "Synopsis | Slices", path: Path) -> None:
    """Say which commands go on from a release.

    They ask about its areas, or the middle of the domain.
    """
    from hushgrid.slices.slices import Slices

    domain, slices = release.domain, release if isinstance(release, Slices) else None
    on_areas = slices.on_areas if slices is not None else not release.partition.tiles  # type: ignore[union-attr]
    file = shlex.quote(str(path))
    middle = (
        domain.west + domain.width / 4,
        domain.south + domain.height / 4,
        domain.east - domain.width / 4,
        domain.north - domain.height / 4,
    )
    rect = ",".join(f"{bound:.12g}" for bound in middle)
    question = f"query {file}" if on_areas else f"query {file} --rect {rect}"
    note("Next:")
    page, statement = (shlex.quote(str(path.with_suffix(ending))) for ending in (".html", ".statement.html"))
    if slices is not None:
        question = f"{question} --each"
    for command in (f"map {file} -o {page}", question, f"manifest {file} -o {statement}", f"verify {file}"):
        note(f"  hushgrid {command}")


@click.command("describe", epilog=example("describe trips.dp.parquet"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "want_json", is_flag=True, help="Write JSON.")
def describe_command(file: Path, want_json: bool) -> None:
    """Say what a release holds and what it promises.

    FILE is a release made by "hushgrid publish". If it is in slices, the total of every slice is listed.
    """
    from hushgrid.release.describe import Description, SlicesDescription
    from hushgrid.slices.slices import Slices

    found, library = read_any(file)
    description: Description | SlicesDescription
    if isinstance(found, Slices):
        description, shown = SlicesDescription(slices=found, file=str(file), library=library), found.shown()
    else:
        description, shown = Description(synopsis=found, file=str(file), library=library), found
    if want_json:
        click.echo(as_json(description.to_dict()))
    else:
        click.echo(description)
        if sys.stdout.isatty():
            from hushgrid.export.terminal import text_picture

            if isinstance(found, Slices) and found.total is None:
                click.echo(f"\nOf the slice {found.names[0]}:")
            click.echo(f"\n{text_picture(shown)}")


CONSISTENT = (
    "The file is consistent: its counts follow from its measurements, and its claim from the noise it declares. "
    "Only its publisher can vouch that the noise was really added."
)


@click.command("verify", epilog=example("verify trips.dp.parquet"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "want_json", is_flag=True, help="Write JSON.")
def verify_command(file: Path, want_json: bool) -> None:
    """Check that a release does not contradict itself.

    FILE is a release made by "hushgrid publish". Every count is recomputed from the measurements, the claim from the
    declared noise, and the width of intervals from both. Exit code 3 means that a check failed.
    """
    from hushgrid.release.verify import verify

    with on_disk(file) as path:
        verification = verify(path)
    click.echo(as_json({"file": str(file), **verification.to_dict()}) if want_json else verification)
    failed = {check.name: check.detail for check in verification.checks if not check.ok}
    if "release" in failed:
        warn_of_simulation()
    if failed:
        msg = f"{file} failed these checks: {', '.join(f'{name} ({detail})' for name, detail in failed.items())}."
        raise SynopsisFileError(msg)
    note(CONSISTENT)
