"""``hushgrid ledger``: the budget of each data set, and what it was spent on."""

from typing import TYPE_CHECKING, Literal

import click

from hushgrid.cli.completion import complete_file
from hushgrid.cli.ledger_words import accounts_as_values, accounts_in_words, entries_as_values, entries_in_words
from hushgrid.cli.notes import note
from hushgrid.cli.output import aligned, as_json
from hushgrid.cli.parameters import example
from hushgrid.errors import LedgerError

if TYPE_CHECKING:
    from hushgrid.ledger.ledger import Ledger

DEFAULT = "hushgrid.ledger"
UNALTERED = (
    "The ledger is whole. An old copy of it would be whole too: to rule that out, pass --head with the head that "
    "your latest release carries, or one you have written down."
)
NOT_OLD = "The ledger is whole, and is no older than that head."

at = click.option(
    "--ledger",
    "place",
    envvar="HUSHGRID_LEDGER",
    default=DEFAULT,
    show_default=True,
    shell_complete=complete_file,
    metavar="PATH|URL",
    help="The ledger: a file, or postgresql://USER@HOST/DATABASE.",
)
as_json_too = click.option("--json", "want_json", is_flag=True, help="Write JSON.")


@click.group(epilog=example("ledger init --dataset trips --budget 3 --unit user"), invoke_without_command=True)
@click.pass_context
def ledger(context: click.Context) -> None:
    """Keep the account of all releases of a data set.

    Releases of the same data add up. A ledger gives each data set one budget, in epsilon, and refuses what does not
    fit. It keeps a copy of every release: asking again for the same one costs nothing. It never sees the data.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@ledger.command(epilog=example("ledger init --dataset trips --budget 3 --unit user"))
@at
@click.option("--dataset", required=True, metavar="NAME", help="What to call the data set from now on.")
@click.option("--budget", required=True, metavar="EPSILON", help="What all its releases together may spend, ever.")
@click.option(
    "--unit",
    required=True,
    type=click.Choice(["record", "user"]),
    help="What is protected: one record, or one user with all their records.",
)
@as_json_too
def init(place: str, dataset: str, budget: str, unit: Literal["record", "user"], want_json: bool) -> None:
    """Give a data set its budget and its unit, for good.

    The ledger is made if it does not exist. Neither the budget nor the unit can be changed later.
    """
    from hushgrid.ledger.ledger import open_ledger

    with open_ledger(place, create=True) as opened:
        opened.add_dataset(dataset, budget=budget, unit=unit)
        _show(opened, want_json=want_json)


@ledger.command(epilog=example("ledger show"))
@at
@as_json_too
def show(place: str, want_json: bool) -> None:
    """Say for each data set what was granted, what is spent, and what is left."""
    from hushgrid.ledger.ledger import open_ledger

    with open_ledger(place) as opened:
        _show(opened, want_json=want_json)


@ledger.command(epilog=example("ledger history"))
@at
@as_json_too
def history(place: str, want_json: bool) -> None:
    """List every release that budget was set aside for, and what became of it."""
    from hushgrid.ledger.ledger import open_ledger

    with open_ledger(place) as opened:
        book = opened.book()
    click.echo(as_json({"ledger": opened.place, **entries_as_values(book)}) if want_json else entries_in_words(book))


@ledger.command(epilog=example("ledger verify --head 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"))
@at
@click.option("--head", metavar="HASH", help="The head that a release carries: the ledger must not be older.")
@as_json_too
def verify(place: str, head: str | None, want_json: bool) -> None:
    """Check that nothing in the ledger was edited, moved or removed.

    Exit code 5 means that a check failed.
    """
    from hushgrid.ledger.ledger import open_ledger

    with open_ledger(place) as opened:
        verification = opened.verify(head=head)
    if want_json:
        checks = [vars(check) for check in verification.checks]
        click.echo(as_json({"ledger": opened.place, "ok": verification.ok, "checks": checks}))
    else:
        rows = [["ok" if check.ok else "FAILED", check.name, check.detail] for check in verification.checks]
        click.echo(aligned(rows, left=3))
    failed = [check.name for check in verification.checks if not check.ok]
    if failed:
        msg = f"the ledger {opened.place} does not pass: {', '.join(failed)}."
        raise LedgerError(msg)
    note(UNALTERED if head is None else NOT_OLD)


def _show(opened: "Ledger", *, want_json: bool) -> None:
    book = opened.book()
    click.echo(as_json({"ledger": opened.place, **accounts_as_values(book)}) if want_json else accounts_in_words(book))
