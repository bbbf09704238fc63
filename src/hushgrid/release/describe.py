"""What a release is and promises, in words and in values."""

from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, overload

import numpy as np

from hushgrid.methods import METHODS
from hushgrid.methods.method import most_cells
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.answer import CONFIDENCES, SIDES, Answer
from hushgrid.synopsis.claim import Claim, PriorRecord, Size
from hushgrid.synopsis.facts import Facts, total_answer
from hushgrid.synopsis.scale import Scale
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.text import aligned, labelled, several, whole

CONFIDENCE = 0.95
MOST_ROWS = 48  # of a table of slices


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Description:
    """What a release holds and promises.

    Printing it says so.

    Parameters
    ----------
    synopsis : Synopsis
        The release.
    file, library : str, optional
        Where it was read from, and the version of hushgrid that wrote it.
    """

    synopsis: Synopsis
    file: str | None = None
    library: str | None = None

    def __repr__(self) -> str:
        return labelled(self.in_words())

    @property
    def total(self) -> Answer:
        """The estimated total, with its interval."""
        return total_answer(self.synopsis, confidence=CONFIDENCE)

    @property
    def max_cells(self) -> int:
        """The limit on cells that are sized from released values."""
        return self.synopsis.claim.max_cells or most_cells(METHODS.get(self.synopsis.method.name))

    def in_words(self) -> dict[str, str]:
        """The facts about the release, by label."""
        synopsis, total = self.synopsis, self.total
        facts, mark = Facts.of(synopsis), synopsis.ledger
        capped = "" if synopsis.claim.size is None else f"; at most {self.max_cells:,} cells"
        estimate, low, high = (whole(float(number)) for number in (total.estimate, total.low, total.high))
        charged = "" if mark is None else f"entry {mark.entry} of the data set {mark.dataset!r}; head {mark.head}"
        return {
            **({"file": f"{self.file}, written by hushgrid {self.library}"} if self.file is not None else {}),
            "domain": f"{facts.region} ({facts.domain.crs})",
            "method": facts.how_made,
            "structure": synopsis.partition.words,
            "sized by": f"{facts.sized_by}{capped}",
            "total": f"about {estimate} {facts.counted}, an estimate; {low} to {high} {facts.after_bounds(CONFIDENCE)}",
            **({"prior": facts.prior} if facts.prior else {}),
            **({"counts": facts.meaning} if facts.caveats else {}),
            "guarantee": facts.claim.sentence,
            "budget": facts.budget,
            **({"period": facts.period} if facts.period else {}),
            **({"ledger": charged} if charged else {}),
        }

    def to_dict(self) -> dict[str, Any]:
        """The facts about the release, as values for JSON."""
        synopsis, total = self.synopsis, self.total
        facts, method, kept = Facts.of(synopsis), synopsis.method, synopsis.kept_share
        return {
            **({"file": self.file, "library": self.library} if self.file is not None else {}),
            "simulation": synopsis.simulation,
            "domain": asdict(synopsis.domain),
            "method": {
                "asked": method.asked,
                "chosen": method.name,
                "parameters": dict(method.parameters),
                "notes": list(method.notes),
            },
            "structure": {
                "cells": synopsis.partition.cells,
                "max_cells": self.max_cells,
                **synopsis.partition.details,
            },
            "total": {"estimate": total.estimate, "low": total.low, "high": total.high, "confidence": CONFIDENCE},
            "counted": facts.counted,
            "kept_share": None if kept is None else {**vars(kept), "confidence": CONFIDENCE},
            "caveats": list(facts.caveats),
            "prior": None if synopsis.prior is None else _prior(synopsis.prior),
            "scale": None if synopsis.scale is None else _scale(synopsis.scale),
            "calibration": {"sides": SIDES, "confidences": CONFIDENCES, "factors": synopsis.calibration.factors},
            "claim": _claim(synopsis.claim),
            "size": _size(synopsis.claim.size),
            "period": None if synopsis.period is None else vars(synopsis.period),
            "ledger": None if synopsis.ledger is None else vars(synopsis.ledger),
        }


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SlicesDescription:
    """What slices hold and promise.

    Printing it says so.

    Parameters
    ----------
    slices : Slices
        The release.
    file, library : str, optional
        Where it was read from, and the version of hushgrid that wrote it.
    """

    slices: Slices
    file: str | None = None
    library: str | None = None

    def __repr__(self) -> str:
        return f"{labelled(self.in_words())}\n\n{self.table()}"

    def in_words(self) -> dict[str, str]:
        """The facts about the release, by label."""
        slices, shown = self.slices, self.slices.shown()
        said = Description(synopsis=shown, file=self.file, library=self.library).in_words()
        sizes = [part.partition.cells for part in slices.values()]
        least = f"{min(sizes):,} to " if min(sizes) < max(sizes) else ""
        structure = f"{several(len(slices), 'slice')} of {least}{several(max(sizes), 'cell')} each"
        facts, total = Facts.of(shown), slices.total_of_all(confidence=CONFIDENCE)
        estimate, low, high = (whole(float(number)) for number in (total.estimate, total.low, total.high))
        return {
            **{label: said.pop(label) for label in ("file", "domain") if label in said},
            "slices": slices.by.words(),
            **said,
            "structure": structure,
            "total": f"about {estimate} {facts.counted}, an estimate; {low} to {high} {facts.after_bounds(CONFIDENCE)}",
        }

    def table(self) -> str:
        """Estimated totals of the slices, with intervals."""
        totals, names = self.slices.totals(confidence=CONFIDENCE), self.slices.names
        columns = [[*map(whole, np.ravel(values))] for values in (totals.estimate, totals.low, totals.high)]
        rows = [[*row] for row in zip(names, *columns, strict=True)]
        if len(rows) > MOST_ROWS:
            rows = [*rows[: MOST_ROWS - 2], ["...", "", "", ""], rows[-1]]
        return aligned([["slice", "estimate", "low", "high"], *rows], left=1)

    def to_dict(self) -> dict[str, Any]:
        """The facts about the release, as values for JSON."""
        slices, total = self.slices, self.slices.total_of_all(confidence=CONFIDENCE)
        claim = _claim(slices.claim)  # of each slice, too: its own says less, if others sharpened it
        parts = [
            {"slice": name, **Description(synopsis=part).to_dict(), "claim": claim} for name, part in slices.items()
        ]
        return {
            **({"file": self.file, "library": self.library} if self.file is not None else {}),
            "simulation": slices.simulation,
            "domain": asdict(slices.domain),
            "by": slices.by.to_dict(),
            "claim": claim,
            "total": {"estimate": total.estimate, "low": total.low, "high": total.high, "confidence": CONFIDENCE},
            "slices": parts,
            "released_total": None if slices.total is None else Description(synopsis=slices.total).to_dict(),
        }


@overload
def describe(release: Synopsis) -> Description: ...
@overload
def describe(release: Slices) -> SlicesDescription: ...
@overload
def describe(release: str | Path) -> Description | SlicesDescription: ...
def describe(release: str | Path | Synopsis | Slices) -> Description | SlicesDescription:
    """What a release holds and what it promises.

    Parameters
    ----------
    release : path, Synopsis or Slices
        A release file, or what was published or read.

    Examples
    --------
    >>> import hushgrid as hg
    >>> domain = hg.Domain(west=0, south=0, east=1, north=1)
    >>> described = describe(hg.publish([[0.5, 0.5]], domain=domain, epsilon=1, method=hg.UniformGrid(side=2)))
    >>> described.in_words()["structure"], described.to_dict()["claim"]["exact_epsilon"]
    ('grid 2 x 2, 4 cells', '1')
    """
    if isinstance(release, Synopsis):
        return Description(synopsis=release)
    if isinstance(release, Slices):
        return SlicesDescription(slices=release)
    from hushgrid.slices.files import SlicedFile, open_saved

    with open_saved(Path(release)) as file:
        told = {"file": str(release), "library": file.footer.library}
        if isinstance(file, SlicedFile):
            return SlicesDescription(slices=file.slices(), **told)
        return Description(synopsis=file.synopsis(), **told)


def _prior(prior: PriorRecord) -> dict[str, Any]:
    said = {name: getattr(prior, name) for name in ("name", "kind", "sha256", "licence", "nats")}
    return {**said, "used": prior.used}


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "sentence": claim.sentence,
        "unit": claim.unit,
        "max_per_unit": claim.max_per_unit,
        **_epsilon(claim.epsilon),
        "spends": [{"purpose": spend.purpose, **_epsilon(spend.epsilon)} for spend in claim.spends],
    }


def _scale(scale: Scale) -> dict[str, Any]:
    plain = {name: value for name, value in vars(scale).items() if name != "all_records"}
    return {**plain, "all_records": scale.all_records is not None}


def _epsilon(epsilon: Fraction) -> dict[str, float | str]:
    return {"epsilon": float(epsilon), "exact_epsilon": str(epsilon)}


def _size(size: Size | None) -> dict[str, Any] | None:
    # A noisy size is there to size the partition and is never shown; a declared one is public anyway.
    if size is None:
        return None
    return {"source": size.source, "value": size.value if size.source == "public" else None}
