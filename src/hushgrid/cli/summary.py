"""What is said of a release that was just made, and what to do with it."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from hushgrid.cli.notes import note
from hushgrid.cli.output import labelled
from hushgrid.cli.words import structure_in_words
from hushgrid.geometry.domain import Domain

if TYPE_CHECKING:
    from hushgrid.synopsis.synopsis import Synopsis


def summarise(synopsis: "Synopsis") -> None:
    """Say what was published, from released values alone."""
    from hushgrid.synopsis.meaning import caveats, how_made

    said = {
        "method": how_made(synopsis.method),
        "structure": structure_in_words(synopsis.partition),
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
