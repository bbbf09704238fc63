"""The manifest of a release: a statement, with its ledger's account."""

import hashlib
import os
from pathlib import Path

from hushgrid.errors import ArgumentError, LedgerError
from hushgrid.export.language import COMPLETE, Language
from hushgrid.export.statement import Balance, Given, Statement
from hushgrid.ledger import DEFAULT_LEDGER
from hushgrid.synopsis.claim import LedgerMark


def manifest(
    file: str | Path,
    *,
    publisher: str | None = None,
    contact: str | None = None,
    purpose: str | None = None,
    date: str | None = None,
    language: str | Path = COMPLETE,
    ledger: str | Path | None = None,
    dataset: str | None = None,
) -> Statement:
    """State on one page what a release promises and holds.

    Parameters
    ----------
    file : path
        A release.
    publisher, contact, purpose, date : str, optional
        What only the publisher knows; what is left out is "not stated".
    language : str or path
        ``en``, ``de``, ``fr`` or ``es``, or a TOML file of your own sentences.
    ledger : path or str, optional
        The ledger that the release was charged to, for the state of its account.
    dataset : str, optional
        The data set in the ledger; by default the one that the release names. Without `ledger`, the usual ledger is
        meant.

    Examples
    --------
    >>> import hushgrid as hg, tempfile
    >>> domain = hg.Domain(west=0, south=0, east=1, north=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hg.publish([[0.5, 0.5]], domain=domain, epsilon=1, method="uniform").save(f"{folder}/a.dp.parquet")
    ...     statement = manifest(f"{folder}/a.dp.parquet", publisher="City of Springfield", language="de")
    >>> print(str(statement).splitlines()[0])
    # Erklärung zur Veröffentlichung `a.dp.parquet`
    """
    from hushgrid.slices.files import SlicedFile, open_saved
    from hushgrid.slices.slices import Slices

    path, chosen = Path(file), Language.of(language)
    with open_saved(path) as release:
        found = release.slices() if isinstance(release, SlicedFile) else release.synopsis()
    slices = found if isinstance(found, Slices) else None
    synopsis = found.shown() if isinstance(found, Slices) else found
    with path.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    balance = None
    if ledger is not None or dataset is not None:
        place = ledger or os.environ.get("HUSHGRID_LEDGER") or DEFAULT_LEDGER
        balance = _balance(path.name, place, _checked(path.name, synopsis.ledger, dataset), sha256)
    given = Given(publisher=publisher, contact=contact, purpose=purpose, date=date)
    return Statement(
        synopsis=synopsis,
        file=path.name,
        sha256=sha256,
        language=chosen,
        given=given,
        balance=balance,
        slices=slices,
    )


def _checked(name: str, mark: LedgerMark | None, dataset: str | None) -> LedgerMark:
    """The ledger's mark in a release, if it names the data set."""
    if mark is None:
        msg = f"{name} was charged to no ledger, so none has its account. Leave out ledger and dataset."
        raise ArgumentError(msg)
    if dataset is not None and dataset != mark.dataset:
        msg = f"{name} was charged to the data set {mark.dataset[:40]!r}, not to dataset={dataset[:40]!r}."
        raise ArgumentError(msg, instead={"dataset": mark.dataset})
    return mark


def _balance(name: str, place: str | Path, mark: LedgerMark, sha256: str) -> Balance:
    """The account of the data set that a release was charged to."""
    from hushgrid.ledger.book import amount
    from hushgrid.ledger.ledger import open_ledger

    with open_ledger(place) as opened:
        book = opened.book()
    whole, entry = book.account(mark.dataset, place=str(place)), book.entries.get(mark.entry)
    if entry is None or (entry.dataset, entry.sha256) != (mark.dataset, sha256):
        msg = f"the ledger {place} does not know {name}: its entry {mark.entry} is another release, or the file was "
        msg += "altered since."
        raise LedgerError(msg)
    account = whole.paying(entry.period)
    return Balance(
        charged=amount(entry.charged),
        budget=amount(account.budget),
        spent=amount(account.spent),
        reserved=amount(account.reserved),
        left=amount(account.left),
        head=book.head,
        periods=len(whole.by_period) if whole.per else None,
        lifetime=amount(whole.lifetime) if whole.per else None,
    )
