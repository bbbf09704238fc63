"""What a release is charged to, where it goes, and who hears of it."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeVar

from hushgrid.errors import ArgumentError
from hushgrid.ledger import DEFAULT_LEDGER
from hushgrid.ledger.request import Request
from hushgrid.release.knowledge import check_series
from hushgrid.release.request import ReleaseRequest
from hushgrid.work import Progress, Stage

Subject = TypeVar("Subject")


@dataclass(frozen=True, kw_only=True)
class Charge:
    """The data set of a ledger that pays for a release.

    Parameters
    ----------
    ledger : path or str
        Path or URL of the ledger.
    dataset : str
        The data set in it.
    new_release : bool
        Whether to pay for a release that the ledger has already.
    resume : int or None
        The entry of a run that was cut off.
    series : bool
        Whether the last release of the data set and domain before the period sharpens this one.
    """

    ledger: str | Path
    dataset: str
    new_release: bool = False
    resume: int | None = None
    series: bool = False

    @classmethod
    def of(
        cls,
        *,
        ledger: str | Path | None,
        dataset: str | None,
        new_release: bool = False,
        resume: int | None = None,
        series: bool = False,
    ) -> Self | None:
        """Check the arguments of `hushgrid.publish`; None where nothing is charged.

        Examples
        --------
        >>> Charge.of(ledger="city.ledger", dataset="trips")
        Charge(ledger='city.ledger', dataset='trips', new_release=False, resume=None, series=False)
        """
        if new_release and resume is not None:
            msg = "resume goes on with a release that was begun, new_release pays for another. Give one of them."
            raise ArgumentError(msg)
        if dataset is not None:
            place = ledger or os.environ.get("HUSHGRID_LEDGER") or DEFAULT_LEDGER
            return cls(ledger=place, dataset=dataset, new_release=new_release, resume=resume, series=series)
        needing = {"ledger": ledger, "new_release": new_release, "resume": resume, "series": series}
        for name, given in needing.items():
            if given:
                msg = f"{name} needs dataset: the name of the data set that the release is charged to. "
                msg += "'hushgrid ledger show' lists those of a ledger, 'hushgrid ledger init' adds one."
                raise ArgumentError(msg, instead={"dataset": "NAME"})
        return None

    def wanted(self, request: ReleaseRequest) -> Request:
        """What the ledger is asked for.

        For a series it says no more than that: the ledger says which release sharpens this one, and remembers it.
        """
        wanted = request.for_ledger(self.dataset)
        if not self.series:
            return wanted
        check_series(request.method, request.domain, prior=request.prior_named, places=request.places, by=request.by)
        return replace(wanted, parameters={**wanted.parameters, "series": True})


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Where a release goes, and who hears of it on the way.

    Parameters
    ----------
    output : Path, optional
        The file to write; without one, the release stays in memory.
    overwrite : bool
        Whether to replace that file.
    tell : callable, optional
        Told what a release is about to take, if that is much, and what became of the budget.
    warn : callable, optional
        Told what the steward should act on.
    progress : Progress, optional
        Told 0, 0.01, …, 1 while the release is made: the same calls whatever the points are.
    tell_stage : callable, optional
        Told each stage of the work when it begins.
    """

    output: Path | None = None
    overwrite: bool = False
    tell: Callable[[str], None] | None = None
    warn: Callable[[str], None] | None = None
    progress: Progress | None = None
    tell_stage: Callable[[Stage], None] | None = None

    @property
    def folder(self) -> Path | None:
        """Where there is room for the release until it is committed."""
        return None if self.output is None else self.output.parent

    def say(self, text: str) -> None:
        """Pass on a note, if somebody listens."""
        if self.tell is not None:
            self.tell(text)

    def warn_of(self, warning: Callable[[Subject], str | None], subject: Subject) -> None:
        """Pass on a warning, if there is one and somebody listens."""
        text = None if self.warn is None else warning(subject)
        if self.warn is not None and text is not None:
            self.warn(text)
