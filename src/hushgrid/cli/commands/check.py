"""``hushgrid publish --check``: a dry run, and releases that would be mostly noise."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hushgrid.cli.files import STANDARD_INPUT
from hushgrid.cli.text import warn
from hushgrid.errors import ArgumentError

if TYPE_CHECKING:
    from hushgrid.counting.engine.address import Address
    from hushgrid.release.request import ReleaseRequest

GO_ON = "--yes publishes all the same."


def dry_run(
    points: "Path | Address",
    arguments: Mapping[str, Any],
    *,
    charge: Mapping[str, Any],
    output: Path,
    overwrite: bool,
    check_paths: Callable[[], None],
    points_about: int | None,
    look: bool,
    yes: bool,
) -> None:
    """Print what a release would be, and end as publishing it would."""
    from hushgrid.planning.check import DryRun

    if str(points) == STANDARD_INPUT:
        msg = "--check would use up standard input, which can be read once. Save it to a file first."
        raise ArgumentError(msg, instead={"points": "POINTS.csv"})
    found = []
    try:
        check_paths()
    except ArgumentError as error:
        found.append(error)
    would_be = DryRun.of(
        points,
        arguments,
        charge=charge,
        output=output,
        overwrite=overwrite,
        points_about=points_about,
        look=look,
        found=found,
    )
    click.echo(str(would_be))
    if would_be.true_look is not None:
        click.secho(would_be.true_look.in_words(), fg="red", err=True)
    if would_be.problems:
        raise would_be.problems[0]
    assert would_be.request is not None
    if not yes:
        refuse_noise(would_be.request, points_about)


def refuse_noise(request: "ReleaseRequest", points_about: int | None) -> None:
    """Refuse a release that would be mostly noise."""
    from hushgrid.release.advice import noise_warning

    text = noise_warning(request, points_about)
    if text is not None:
        msg = f"{text} {GO_ON}"
        raise ArgumentError(msg)


def confirm_noise(request: "ReleaseRequest", points_about: int | None, *, yes: bool) -> None:
    """Ask before a release that would be mostly noise.

    Without a terminal, nobody can be asked: it is refused unless --yes is given.
    """
    from hushgrid.methods.method import check_whole
    from hushgrid.planning.plan import MOST_POINTS
    from hushgrid.release.advice import noise_warning

    if points_about is not None:
        check_whole(points_about, name="points_about", low=1, high=MOST_POINTS)
    text = noise_warning(request, points_about)
    if text is not None and (yes or (sys.stdin.isatty() and sys.stderr.isatty())):
        warn(text)
        if yes or click.confirm("Publish all the same?", err=True):
            return
    refuse_noise(request, points_about)
