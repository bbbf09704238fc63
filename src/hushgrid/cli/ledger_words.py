"""A ledger in words, and as plain values for JSON."""

from typing import TYPE_CHECKING, Any

from hushgrid.cli.output import aligned
from hushgrid.errors import SynopsisFileError

if TYPE_CHECKING:
    from hushgrid.ledger.book import Book, Entry

SHORT = 16  # digits of a hash that tell releases apart; all of them are in the JSON
UNFINISHED = "not finished: running, or cut off; spent"


def accounts_as_values(book: "Book") -> dict[str, Any]:
    """Every account, rationals as text, and the head of the chain."""
    accounts = [
        {
            "dataset": account.dataset,
            "unit": account.unit,
            "opened": account.opened,
            "budget": str(account.budget),
            "spent": str(account.spent),
            "reserved": str(account.reserved),
            "left": str(account.left),
        }
        for account in book.accounts.values()
    ]
    return {"head": book.head, "datasets": accounts}


def accounts_in_words(book: "Book") -> str:
    """Every account as a row, and the head of the chain."""
    from hushgrid.ledger.book import amount

    rows = [["data set", "protects each", "budget", "spent", "not finished", "left"]]
    for account in book.accounts.values():
        figures = (account.budget, account.spent, account.reserved, account.left)
        rows.append([_printable(account.dataset), account.unit, *map(amount, figures)])
    return f"{aligned(rows, left=2)}\n\nhead {book.head}"


def entries_as_values(book: "Book") -> dict[str, Any]:
    """Every entry, with what was asked for: the text whose SHA-256 is the key."""
    entries = [
        {
            "entry": entry.number,
            "dataset": entry.dataset,
            "state": entry.state,
            "epsilon": str(entry.epsilon),
            "charged": str(entry.charged),
            "reserved": entry.reserved,
            "ended": entry.ended,
            "reason": entry.reason,
            "sha256": entry.sha256,
            "head": entry.head,
            "request_key": entry.key,
            "request": entry.request,
        }
        for entry in book.entries.values()
    ]
    return {"head": book.head, "entries": entries}


def entries_in_words(book: "Book") -> str:
    """Every entry as a row."""
    from hushgrid.ledger.book import amount

    rows = [["entry", "data set", "when (UTC)", "method", "what became of it", "epsilon"]]
    for entry in book.entries.values():
        when = entry.reserved.replace("T", " ").removesuffix("Z")
        texts = (entry.dataset, when, _method(entry), _outcome(entry))
        rows.append([str(entry.number), *map(_printable, texts), amount(entry.epsilon)])
    return aligned(rows, left=5)


def _outcome(entry: "Entry") -> str:
    match entry.state:
        case "committed":
            return f"released, SHA-256 {(entry.sha256 or '')[:SHORT]}..."
        case "abandoned" if entry.charged:
            return f"given up, spent: {entry.reason}"
        case "abandoned":
            return f"given up before anything was read, not spent: {entry.reason}"
        case _:
            return UNFINISHED


def _method(entry: "Entry") -> str:
    from hushgrid.files.strict_json import JsonObject

    try:
        return JsonObject.parse(entry.request.encode()).text("method")
    except SynopsisFileError:
        return "unknown"


def _printable(text: str) -> str:
    # A ledger may have been made up, and a terminal obeys control characters.
    return "".join(character if character.isprintable() else "?" for character in text)
