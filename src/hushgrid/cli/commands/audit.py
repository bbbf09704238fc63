"""``hushgrid audit``: whether the installed build keeps its promise."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hushgrid.cli.parameters import complete_method, example
from hushgrid.cli.text import as_json, note
from hushgrid.text import WIDTH, aligned

if TYPE_CHECKING:
    from hushgrid.audit.audit import AuditReport

FLAGGED = 1  # exit code
MOST_PROCESSES = 8


@click.command(
    "audit", epilog=example("audit -o audit.html", "audit --quick", "audit --method ag --method staq --runs 2000")
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    shell_complete=complete_method,
    metavar="METHOD",
    help="Audit this method only. Repeatable.",
)
@click.option("--epsilon", default="1", show_default=True, metavar="E", help="Privacy budget to publish with.")
@click.option(
    "--runs",
    type=int,
    show_default="500, or 100 with --quick",
    metavar="N",
    help="Releases of each data set in a usual experiment. More runs show smaller flaws.",
)
@click.option("--quick", is_flag=True, help="Use fewer data sets and runs. It takes about a minute.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="HTML", help="Write a report as a web page.")
@click.option("--overwrite", is_flag=True, help="Replace HTML if it exists.")
@click.option("--json", "want_json", is_flag=True, help="Write JSON.")
@click.pass_context
def audit_command(
    context: click.Context,
    methods: tuple[str, ...],
    epsilon: str,
    runs: int | None,
    quick: bool,
    output: Path | None,
    overwrite: bool,
    want_json: bool,
) -> None:
    """Look for signs that this build breaks its promise.

    The audit publishes made-up data by every method and every way in. It checks whether anything but released values
    can be seen, what they cost at most, whether all noise follows its law, and how well releases with and without one
    person can be told apart. It never touches your data, and takes a few minutes. Exit code 1 means that something was
    flagged.

    An audit can catch a broken build. It cannot prove a sound one.
    """
    from hushgrid.audit.audit import audit as audit_build
    from hushgrid.audit.report import CANNOT, allowance, report_page, summary
    from hushgrid.files.paths import check_target, new_file

    if output is not None:
        check_target(output, overwrite=overwrite)
    with auditing() as progress:
        report = audit_build(
            methods=methods or None,
            epsilon=epsilon,
            runs=runs,
            quick=quick,
            processes=min(MOST_PROCESSES, os.cpu_count() or 1),
            progress=progress,
        )
    click.echo(as_json(report.plain()) if want_json else _in_words(report))
    if output is not None:
        with new_file(output, overwrite=overwrite) as out:
            out.write(report_page(report).encode())
        note(f"\nThe report is in {output}.")
    for text in (summary(report), allowance(report), CANNOT):
        note(f"\n{_wrapped(text)}")
    if not report.ok:
        context.exit(FLAGGED)


@contextmanager
def auditing() -> Iterator[Callable[[float, str], None] | None]:
    """A progress bar on stderr, if it is a terminal.

    It is told the share of experiments made and the title of the next.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    # Drawn only between experiments, because some of them listen to what is printed.
    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=1.0)

        def show(share: float, title: str) -> None:
            bar.update(task, completed=share, description=title, refresh=True)

        yield show


def _in_words(report: "AuditReport") -> str:
    from hushgrid.audit.report import TITLES, evidence

    parts = []
    for name, title in TITLES.items():
        checks = report.part(name)
        rows = [[str(check.verdict), check.title, check.method or "", evidence(check)] for check in checks]
        parts.append(f"{title}\n{aligned(rows, left=4)}")
    parts.extend(
        _wrapped(f"FLAGGED: {check.title}{f' ({check.method})' if check.method else ''}. {check.finding}")
        for check in report.flagged
    )
    return "\n\n".join(parts)


def _wrapped(text: str) -> str:
    import textwrap

    return textwrap.fill(text, WIDTH)
