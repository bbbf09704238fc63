"""``hushgrid verify``: whether a release contradicts itself."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hushgrid.cli.files import on_disk, warn_of_simulation
from hushgrid.cli.parameters import example
from hushgrid.cli.text import as_json, note
from hushgrid.errors import SynopsisFileError
from hushgrid.text import aligned

if TYPE_CHECKING:
    from hushgrid.files.verify import Verification

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
    from hushgrid.release.verify import verify as verify_file

    with on_disk(file) as path:
        verification = verify_file(path)
    click.echo(as_json(_plain(file, verification)) if want_json else _in_words(verification))
    failed = {check.name: check.detail for check in verification.checks if not check.ok}
    if "release" in failed:
        warn_of_simulation()
    if failed:
        msg = f"{file} failed these checks: {', '.join(f'{name} ({detail})' for name, detail in failed.items())}."
        raise SynopsisFileError(msg)
    note(CONSISTENT)


def _plain(file: Path, verification: "Verification") -> dict[str, object]:
    return {"file": str(file), "ok": verification.ok, "checks": [vars(check) for check in verification.checks]}


def _in_words(verification: "Verification") -> str:
    rows = [["ok" if check.ok else "FAILED", check.name, check.detail] for check in verification.checks]
    return aligned(rows, left=3)
