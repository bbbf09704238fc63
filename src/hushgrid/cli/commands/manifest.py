"""``hushgrid manifest``: one page about a release, to be signed."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hushgrid.cli.files import STANDARD_INPUT, STANDARD_OUTPUT, check_output
from hushgrid.cli.parameters import complete_file, example
from hushgrid.cli.text import as_json, note
from hushgrid.errors import ArgumentError
from hushgrid.ledger import DEFAULT_LEDGER

if TYPE_CHECKING:
    from hushgrid.slices.slices import Slices
    from hushgrid.synopsis.synopsis import Synopsis


@click.command(
    "manifest",
    epilog=example(
        "manifest trips.dp.parquet -o statement.html --contact privacy@city.example --date 2026-03-31",
        "manifest trips.dp.parquet -o erklaerung.html --language de",
    ),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT|-",
    show_default="Markdown on standard output",
    help="File to write: .html, a page of A4 with a drawing of the release, or .md.",
)
@click.option("--publisher", metavar="TEXT", help="Who publishes the release, as the statement has it.")
@click.option("--contact", metavar="TEXT", help="Whom readers can ask.")
@click.option("--purpose", metavar="TEXT", help="What the release is for.")
@click.option("--date", metavar="TEXT", help="Date of the statement. None is guessed.")
@click.option(
    "--language",
    default="en",
    show_default=True,
    shell_complete=complete_file,
    metavar="en|de|fr|es|FILE",
    help="Language of the statement, or a TOML file with sentences of your own.",
)
@click.option("--dataset", metavar="NAME", help="State what is left of the budget of this data set.")
@click.option(
    "--ledger",
    shell_complete=complete_file,
    metavar="PATH|URL",
    show_default=f"HUSHGRID_LEDGER or {DEFAULT_LEDGER}",
    help="The ledger that the release was charged to.",
)
@click.option("--json", "want_json", is_flag=True, help="Write JSON instead.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
def manifest_command(file: Path, output: Path | None, want_json: bool, overwrite: bool, **asked: Any) -> None:
    """State on one page what a release promises, to be signed.

    FILE is a release made by "hushgrid publish". The statement has the guarantee, how sure somebody can become about
    one person, what the file holds, how to check it and what is not protected. All of it follows from FILE, except what
    you say about yourself. With --dataset or --ledger it has the state of the ledger, which must know FILE.
    """
    from hushgrid.export.statement import HTML, MARKDOWN, check_ending
    from hushgrid.release.manifest import manifest

    if str(file) == STANDARD_INPUT:
        msg = "a statement names its file, and standard input has no name. Give the path of the release."
        raise ArgumentError(msg, instead={"file": "RELEASE.dp.parquet"})
    to_file = output is not None and str(output) != STANDARD_OUTPUT
    if to_file and want_json:
        msg = "--json is written to standard output. Leave out --output."
        raise click.UsageError(msg)
    if output is not None and to_file:
        check_ending(output)
        check_output(output, overwrite=overwrite, endings=(*HTML, *MARKDOWN))
    statement = manifest(file, **asked)
    if output is not None and to_file:
        statement.save(output, overwrite=overwrite)
        click.echo(output)
    else:
        click.echo(as_json(statement.to_dict()) if want_json else statement, nl=want_json)


MANIFEST, REGISTRY = ".manifest.md", ".registry.yaml"  # in place of the suffix of the release


def manifest_paths(output: Path) -> tuple[Path, Path]:
    """Paths of the manifest and the registry entry.

    Examples
    --------
    >>> print(*manifest_paths(Path("trips.dp.parquet")))
    trips.dp.manifest.md trips.dp.registry.yaml
    """
    return output.with_suffix(MANIFEST), output.with_suffix(REGISTRY)


def write_manifest_files(release: "Synopsis | Slices", output: Path, *, overwrite: bool) -> None:
    """Write the manifest and the registry entry beside a release."""
    from hushgrid.export.manifest import manifest_text
    from hushgrid.export.registry import registry_entry
    from hushgrid.files.paths import new_file

    with output.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    texts = (
        manifest_text(release, name=output.name, sha256=sha256),
        registry_entry(release, name=output.name, sha256=sha256, published=f"{datetime.now(UTC):%Y-%m-%d}"),
    )
    for path, text in zip(manifest_paths(output), texts, strict=True):
        with new_file(path, overwrite=overwrite) as out:
            out.write(text.encode())
        note(f"wrote {path}")
