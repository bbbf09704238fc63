"""``hushgrid ledger``: budgets, and what they were spent on."""

import textwrap
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from hushgrid.cli.parameters import complete_file, example
from hushgrid.cli.text import as_json, note
from hushgrid.errors import LedgerError, SynopsisFileError
from hushgrid.ledger import DEFAULT_LEDGER
from hushgrid.periods import PeriodKind
from hushgrid.text import WIDTH, aligned, shown

if TYPE_CHECKING:
    from hushgrid.ledger.book import Account, Book, Entry
    from hushgrid.ledger.ledger import Ledger


SHORT = 16  # digits of a hash that tell releases apart; JSON has all of them
UNFINISHED = "not finished (running or cut off), spent"


def accounts_as_values(book: "Book") -> dict[str, Any]:
    """All accounts as values for JSON, with the head.

    Rationals are text.
    """
    accounts = [
        {
            "dataset": account.dataset,
            "unit": account.unit,
            "opened": account.opened,
            "per": account.per,
            "budget": str(account.budget),
            "spent": str(account.spent),
            "reserved": str(account.reserved),
            "left": None if account.per else str(account.left),
            "lifetime": str(account.lifetime),
            "periods": [_period_as_values(each) for each in account.by_period],
        }
        for account in book.accounts.values()
    ]
    return {"head": book.head, "datasets": accounts}


def _period_as_values(account: "Account") -> dict[str, Any]:
    figures = {"spent": account.spent, "reserved": account.reserved, "left": account.left}
    return {"period": account.period, **{name: str(value) for name, value in figures.items()}}


def accounts_in_words(book: "Book") -> str:
    """All accounts as tables, with the head.

    Data sets with a budget for each period have a table of their own, which ends with the sum over all periods.
    """
    from hushgrid.ledger.book import amount

    rows = [["data set", "protects each", "budget", "spent", "not finished", "left"]]
    for account in (account for account in book.accounts.values() if account.per is None):
        figures = (account.budget, account.spent, account.reserved, account.left)
        rows.append([shown(account.dataset), account.unit, *map(amount, figures)])
    tables = [aligned(rows, left=2)] if len(rows) > 1 or not book.accounts else []
    tables += [_periods_in_words(account) for account in book.accounts.values() if account.per is not None]
    return "\n\n".join([*tables, f"head {book.head}"])


def _periods_in_words(account: "Account") -> str:
    """The periods of a data set as a table, and their sum in words."""
    from hushgrid.ledger.book import amount

    name, periods = shown(account.dataset), account.by_period
    rows = [["data set", "protects each", account.per or "", "budget", "spent", "not finished", "left"]]
    for each in periods:
        figures = (each.budget, each.spent, each.reserved, each.left)
        rows.append([name, account.unit, each.period or "", *map(amount, figures)])
    if not periods:
        return aligned(
            [*rows, [name, account.unit, "each", amount(account.budget), "0", "0", amount(account.budget)]], left=3
        )
    rows.append(
        [name, account.unit, f"all {len(periods):,}", "none", amount(account.spent), amount(account.reserved), ""]
    )
    return f"{aligned(rows, left=3)}\n\n{textwrap.fill(shown(account.everyone), WIDTH)}"


def entries_as_values(book: "Book") -> dict[str, Any]:
    """All entries as values for JSON, with their requests.

    The SHA-256 of a request's text is its key.
    """
    entries = [
        {
            "entry": entry.number,
            "dataset": entry.dataset,
            "state": entry.state,
            "period": entry.period,
            "epsilon": str(entry.epsilon),
            "charged": str(entry.charged),
            "reserved": entry.reserved,
            "ended": entry.ended,
            "reason": entry.reason,
            "sha256": entry.sha256,
            "prior": entry.prior,
            "head": entry.head,
            "request_key": entry.key,
            "request": entry.request,
        }
        for entry in book.entries.values()
    ]
    return {"head": book.head, "entries": entries}


def entries_in_words(book: "Book") -> str:
    """All entries as a table."""
    from hushgrid.ledger.book import amount

    dated = any(entry.period for entry in book.entries.values())
    rows = [
        ["entry", "data set", *(["period"] if dated else []), "when (UTC)", "method", "what became of it", "epsilon"]
    ]
    for entry in book.entries.values():
        when = entry.reserved.replace("T", " ").removesuffix("Z")
        period = [entry.period or ""] if dated else []
        texts = (entry.dataset, *period, when, _method(entry), _outcome(entry))
        rows.append([str(entry.number), *map(shown, texts), amount(entry.epsilon)])
    lifetimes = [textwrap.fill(shown(each.everyone), WIDTH) for each in book.accounts.values() if each.by_period]
    return "\n\n".join([aligned(rows, left=6 if dated else 5), *lifetimes])


def _outcome(entry: "Entry") -> str:
    match entry.state:
        case "committed":
            return f"released, SHA-256 {(entry.sha256 or '')[:SHORT]}..."
        case "abandoned" if entry.charged:
            return f"given up, spent: {entry.reason}"
        case "abandoned":
            return f"given up before anything was read, so not spent: {entry.reason}"
        case _:
            return UNFINISHED


def _method(entry: "Entry") -> str:
    from hushgrid.files.strict_json import JsonObject

    try:
        return JsonObject.parse(entry.request.encode()).text("method")
    except SynopsisFileError:
        return "unknown"


UNALTERED = (
    "The ledger is whole. An old copy of it would be whole too. To rule that out, pass --head with the head that "
    "your latest release carries, or one that you wrote down."
)
NOT_OLD = "The ledger is whole, and not older than that head."

at = click.option(
    "--ledger",
    "place",
    envvar="HUSHGRID_LEDGER",
    default=DEFAULT_LEDGER,
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

    Releases of the same data add up. A ledger gives each data set one budget, in epsilon, and refuses releases that do
    not fit. It keeps a copy of every release, so asking again for the same one costs nothing. It never sees the data.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@ledger.command(
    epilog=example(
        "ledger init --dataset trips --budget 3 --unit user",
        "ledger init --dataset trips --budget 1 --per month --unit user",
    )
)
@at
@click.option("--dataset", required=True, metavar="NAME", help="Name of the data set.")
@click.option("--budget", required=True, metavar="EPSILON", help="Epsilon that all its releases together may spend.")
@click.option(
    "--unit",
    required=True,
    type=click.Choice(["record", "user"]),
    help="What is protected: one record, or one user with all their records.",
)
@click.option(
    "--per",
    type=click.Choice(get_args(PeriodKind)),
    help="Grant the budget to each of these periods. Releases then say which one pays: publish --period.",
)
@as_json_too
def init(
    place: str, dataset: str, budget: str, unit: Literal["record", "user"], per: PeriodKind | None, want_json: bool
) -> None:
    """Give a data set its budget and unit, for good.

    The ledger is created if it does not exist. Neither the budget nor the unit can be changed later.

    With --per, each period has this budget for its own records. For somebody with records in several periods, what is
    spent adds up, and the sum grows with every period; "hushgrid ledger show" tells it.
    """
    from hushgrid.ledger.ledger import open_ledger

    with open_ledger(place, create=True) as opened:
        opened.add_dataset(dataset, budget=budget, unit=unit, per=per)
        _show(opened, want_json=want_json)


@ledger.command(epilog=example("ledger show"))
@at
@as_json_too
def show(place: str, want_json: bool) -> None:
    """Show what each data set was granted, has spent and has left."""
    from hushgrid.ledger.ledger import open_ledger

    with open_ledger(place) as opened:
        _show(opened, want_json=want_json)


@ledger.command(epilog=example("ledger history"))
@at
@as_json_too
def history(place: str, want_json: bool) -> None:
    """List every reservation of budget, and what became of it."""
    from hushgrid.ledger.ledger import open_ledger

    with open_ledger(place) as opened:
        book = opened.book()
    click.echo(as_json({"ledger": opened.place, **entries_as_values(book)}) if want_json else entries_in_words(book))


@ledger.command(
    "verify", epilog=example("ledger verify --head 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03")
)
@at
@click.option("--head", metavar="HASH", help="The head that a release carries. The ledger must not be older.")
@as_json_too
def verify_ledger(place: str, head: str | None, want_json: bool) -> None:
    """Check that nothing in the ledger was edited, moved or removed.

    Exit code 5 means that a check failed.
    """
    from hushgrid.ledger.ledger import open_ledger

    with open_ledger(place) as opened:
        verification = opened.verify(head=head)
    click.echo(as_json({"ledger": opened.place, **verification.to_dict()}) if want_json else verification)
    failed = [check.name for check in verification.checks if not check.ok]
    if failed:
        msg = f"the ledger {opened.place} failed these checks: {', '.join(failed)}."
        raise LedgerError(msg)
    note(UNALTERED if head is None else NOT_OLD)


def _show(opened: "Ledger", *, want_json: bool) -> None:
    book = opened.book()
    click.echo(as_json({"ledger": opened.place, **accounts_as_values(book)}) if want_json else accounts_in_words(book))
