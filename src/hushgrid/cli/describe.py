"""``hushgrid describe``: what a release is and promises, in words and as JSON."""

import shlex
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hushgrid.cli.files import read_release
from hushgrid.cli.parameters import COLUMNS, example
from hushgrid.cli.text import as_json, labelled, note, whole
from hushgrid.geometry.domain import Domain

if TYPE_CHECKING:
    from hushgrid.geometry.domain import Domain
    from hushgrid.geometry.partition import Structure
    from hushgrid.synopsis.answer import Calibration
    from hushgrid.synopsis.claim import Claim, LedgerMark, Size
    from hushgrid.synopsis.synopsis import Synopsis


CONFIDENCE = 0.95


def release_values(synopsis: "Synopsis") -> dict[str, Any]:
    """Everything a reader of a release should know."""
    from hushgrid.synopsis.meaning import caveats, counted

    domain, method, scale = synopsis.domain, synopsis.method, synopsis.scale
    total = synopsis.answer(domain.bounds, confidence=CONFIDENCE)
    return {
        "simulation": synopsis.simulation,
        "domain": {**dict(zip(COLUMNS, domain.bounds, strict=True)), "crs": domain.crs},
        "method": {
            "asked": method.asked,
            "chosen": method.name,
            "parameters": dict(method.parameters),
            "notes": list(method.notes),
        },
        "structure": _structure(synopsis.partition),
        "total": {"estimate": total.estimate, "low": total.low, "high": total.high, "confidence": CONFIDENCE},
        "counted": counted(synopsis),
        "caveats": list(caveats(synopsis)),
        "scale": None if scale is None else vars(scale),
        "calibration": _calibration(synopsis.calibration),
        "claim": _claim(synopsis.claim),
        "size": _size(synopsis.claim.size),
        "ledger": None if synopsis.ledger is None else vars(synopsis.ledger),
    }


def _structure(partition: "Structure") -> dict[str, Any]:
    from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT

    return {"cells": partition.cells, "guideline_cell_limit": GUIDELINE_CELL_LIMIT, **partition.details}


def _calibration(calibration: "Calibration") -> dict[str, Any]:
    from hushgrid.synopsis.answer import CONFIDENCES, SIDES

    return {"sides": SIDES, "confidences": CONFIDENCES, "factors": calibration.factors}


def _claim(claim: "Claim") -> dict[str, Any]:
    return {
        "sentence": claim.sentence,
        "unit": claim.unit,
        "max_per_unit": claim.max_per_unit,
        **_epsilon(claim.epsilon),
        "spends": [{"purpose": spend.purpose, **_epsilon(spend.epsilon)} for spend in claim.spends],
    }


def _epsilon(epsilon: Fraction) -> dict[str, float | str]:
    return {"epsilon": float(epsilon), "exact_epsilon": str(epsilon)}


def _size(size: "Size | None") -> dict[str, Any] | None:
    # A noisy size is there to size the partition and is never shown; a declared one is public anyway.
    if size is None:
        return None
    return {"source": size.source, "value": size.value if size.source == "public" else None}


def release_in_words(synopsis: "Synopsis") -> dict[str, str]:
    """Everything a reader of a release should know: a label and a text each."""
    from hushgrid.synopsis.meaning import caveats, how_made, spent

    meaning = " ".join(caveats(synopsis))
    return {
        "domain": domain_in_words(synopsis.domain),
        "method": how_made(synopsis.method),
        "structure": synopsis.partition.words,
        "sized by": size_in_words(synopsis.claim),
        "total": total_in_words(synopsis),
        **({"counts": meaning} if meaning else {}),
        "guarantee": synopsis.claim.sentence,
        "budget": spent(synopsis.claim),
        **({} if synopsis.ledger is None else {"ledger": ledger_in_words(synopsis.ledger)}),
    }


def domain_in_words(domain: "Domain") -> str:
    """The bounds, each by its name."""
    bounds = (f"{name} {bound:.10g}" for name, bound in zip(COLUMNS, domain.bounds, strict=True))
    return f"{', '.join(bounds)} ({domain.crs})"


def size_in_words(claim: "Claim") -> str:
    """What the number of cells was found from. A noisy size is never shown."""
    from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT
    from hushgrid.synopsis.meaning import sized_by

    capped = "" if claim.size is None else f"; sizes found so are capped at {GUIDELINE_CELL_LIMIT:,} cells"
    return f"{sized_by(claim)}{capped}"


def total_in_words(synopsis: "Synopsis") -> str:
    """The estimated number of points, or of whatever was counted, with its interval."""
    from hushgrid.synopsis.meaning import counted

    total = synopsis.answer(synopsis.domain.bounds, confidence=CONFIDENCE)
    estimate, low, high = (whole(float(number)) for number in (total.estimate, total.low, total.high))
    return f"about {estimate} {counted(synopsis)}, an estimate; {low} to {high} with {100 * CONFIDENCE:g} % confidence"


def ledger_in_words(mark: "LedgerMark") -> str:
    """The entry that a release was charged to."""
    return f"entry {mark.entry} of the data set {mark.dataset!r}; head {mark.head}"


def summarise(synopsis: "Synopsis") -> None:
    """Say what was published, from released values alone."""
    from hushgrid.synopsis.meaning import caveats, how_made

    said = {
        "method": how_made(synopsis.method),
        "structure": synopsis.partition.words,
        "guarantee": synopsis.claim.sentence,
        **({"counts": " ".join(meaning)} if (meaning := caveats(synopsis)) else {}),
    }
    note(labelled(said))


def suggest(domain: Domain, path: Path, areas: Path | None = None) -> None:
    """Say which commands go on from a release; asked about are its areas, or the middle of the domain."""
    file = shlex.quote(str(path))
    middle = (
        domain.west + domain.width / 4,
        domain.south + domain.height / 4,
        domain.east - domain.width / 4,
        domain.north - domain.height / 4,
    )
    rect = ",".join(f"{bound:.12g}" for bound in middle)
    question = f"--rect {rect}" if areas is None else f"--polygons {shlex.quote(str(areas))}"
    note("Next:")
    for command in (f"describe {file}", f"query {file} {question}", f"verify {file}"):
        note(f"  hushgrid {command}")


@click.command(epilog=example("describe trips.dp.parquet"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "want_json", is_flag=True, help="Write JSON.")
def describe(file: Path, want_json: bool) -> None:
    """Say what a release holds and what it promises.

    FILE is a release made by "hushgrid publish".
    """
    synopsis, library = read_release(file)
    if want_json:
        click.echo(as_json({"file": str(file), "library": library, **release_values(synopsis)}))
    else:
        click.echo(labelled({"file": f"{file}, written by hushgrid {library}", **release_in_words(synopsis)}))
