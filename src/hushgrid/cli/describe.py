"""``hushgrid describe``: what a release is and promises."""

import shlex
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hushgrid.cli.files import read_release
from hushgrid.cli.parameters import COLUMNS, example
from hushgrid.cli.text import as_json, note
from hushgrid.geometry.domain import Domain
from hushgrid.text import labelled, whole

if TYPE_CHECKING:
    from hushgrid.synopsis.answer import Answer, Calibration
    from hushgrid.synopsis.claim import Claim, Size
    from hushgrid.synopsis.synopsis import Synopsis

CONFIDENCE = 0.95


def release_values(synopsis: "Synopsis") -> dict[str, Any]:
    """The facts about a release, for JSON."""
    from hushgrid.synopsis.facts import Facts

    facts, total = Facts.of(synopsis), _total(synopsis)
    domain, method, scale = synopsis.domain, synopsis.method, synopsis.scale
    return {
        "simulation": synopsis.simulation,
        "domain": {**dict(zip(COLUMNS, domain.bounds, strict=True)), "crs": domain.crs},
        "method": {
            "asked": method.asked,
            "chosen": method.name,
            "parameters": dict(method.parameters),
            "notes": list(method.notes),
        },
        "structure": _structure(synopsis),
        "total": {"estimate": total.estimate, "low": total.low, "high": total.high, "confidence": CONFIDENCE},
        "counted": facts.counted,
        "caveats": list(facts.caveats),
        "scale": None if scale is None else vars(scale),
        "calibration": _calibration(synopsis.calibration),
        "claim": _claim(synopsis.claim),
        "size": _size(synopsis.claim.size),
        "ledger": None if synopsis.ledger is None else vars(synopsis.ledger),
    }


def _structure(synopsis: "Synopsis") -> dict[str, Any]:
    partition = synopsis.partition
    return {"cells": partition.cells, "max_cells": _max_cells(synopsis), **partition.details}


def _max_cells(synopsis: "Synopsis") -> int:
    """The limit on cells that are sized from released values."""
    from hushgrid.methods import METHODS
    from hushgrid.methods.method import most_cells

    return synopsis.claim.max_cells or most_cells(METHODS.get(synopsis.method.name))


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


def _total(synopsis: "Synopsis") -> "Answer":
    return synopsis.answer(synopsis.domain.bounds, confidence=CONFIDENCE)


def release_in_words(synopsis: "Synopsis") -> dict[str, str]:
    """The facts about a release, by label."""
    from hushgrid.synopsis.facts import Facts

    facts, total, mark = Facts.of(synopsis), _total(synopsis), synopsis.ledger
    capped = "" if synopsis.claim.size is None else f"; at most {_max_cells(synopsis):,} cells"
    estimate, low, high = (whole(float(number)) for number in (total.estimate, total.low, total.high))
    confidence = f"{100 * CONFIDENCE:g} % confidence"
    return {
        "domain": f"{facts.region} ({facts.domain.crs})",
        "method": facts.how_made,
        "structure": synopsis.partition.words,
        "sized by": f"{facts.sized_by}{capped}",
        "total": f"about {estimate} {facts.counted}, an estimate; {low} to {high} with {confidence}",
        **({"counts": facts.meaning} if facts.caveats else {}),
        "guarantee": facts.claim.sentence,
        "budget": facts.budget,
        **(
            {} if mark is None else {"ledger": f"entry {mark.entry} of the data set {mark.dataset!r}; head {mark.head}"}
        ),
    }


def summarise(synopsis: "Synopsis") -> None:
    """Say what was published, from released values alone."""
    from hushgrid.synopsis.facts import Facts

    facts = Facts.of(synopsis)
    said = {
        "method": facts.how_made,
        "structure": synopsis.partition.words,
        "guarantee": facts.claim.sentence,
        **({"counts": facts.meaning} if facts.caveats else {}),
    }
    note(labelled(said))


def suggest(domain: Domain, path: Path, areas: Path | None = None) -> None:
    """Say which commands go on from a release.

    They ask about its areas, or the middle of the domain.
    """
    file = shlex.quote(str(path))
    middle = (
        domain.west + domain.width / 4,
        domain.south + domain.height / 4,
        domain.east - domain.width / 4,
        domain.north - domain.height / 4,
    )
    rect = ",".join(f"{bound:.12g}" for bound in middle)
    question = f"query {file} --rect {rect}" if areas is None else f"query {file}"
    note("Next:")
    for command in (f"describe {file}", question, f"verify {file}"):
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
        if sys.stdout.isatty():
            from hushgrid.export.terminal import text_picture

            click.echo(f"\n{text_picture(synopsis)}")
