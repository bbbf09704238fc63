"""Where a release stands in the ledger that it was charged to."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class LedgerMark:
    """What a release carries of the ledger that it was charged to.

    Parameters
    ----------
    dataset : str
        The name that the data set has there.
    entry : int
        Number of its entry.
    head : str
        Hash of the ledger when the budget was set aside: a ledger that does not know it is an old copy, or another.
    """

    dataset: str
    entry: int
    head: str
