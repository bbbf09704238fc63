"""What a release is and promises, in words."""

from typing import TYPE_CHECKING

from hushgrid.cli.description import CONFIDENCE
from hushgrid.cli.output import whole
from hushgrid.cli.rectangles import COLUMNS

if TYPE_CHECKING:
    from hushgrid.geometry.domain import Domain
    from hushgrid.geometry.partition import Partition
    from hushgrid.synopsis.claim import Claim, LedgerMark
    from hushgrid.synopsis.synopsis import Synopsis


def in_words(synopsis: "Synopsis") -> dict[str, str]:
    """Everything a reader of a release should know: a label and a text each."""
    from hushgrid.synopsis.meaning import caveats, how_made, spent

    meaning = " ".join(caveats(synopsis))
    return {
        "domain": domain_in_words(synopsis.domain),
        "method": how_made(synopsis.method),
        "structure": structure_in_words(synopsis.partition),
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


def structure_in_words(partition: "Partition") -> str:
    """The shape of the partition."""
    from hushgrid.geometry.areas import Patchwork
    from hushgrid.geometry.grid import Grid, GroupedGrid, NestedGrid
    from hushgrid.geometry.tree import Tree

    match partition:
        case Grid():
            return f"grid {partition.columns} x {partition.rows}, {partition.cells:,} cells"
        case NestedGrid():
            grid, least, most = partition.grid, partition.sides.min(), partition.sides.max()
            divided = f"each cell divided into {least} x {least} to {most} x {most}"
            return f"grid {grid.columns} x {grid.rows}, {divided}, {partition.cells:,} leaf cells"
        case GroupedGrid():
            groups = int(partition.groups.max()) + 1
            return f"{structure_in_words(partition.nested)}, those not divided in {groups:,} groups"
        case Tree():
            return f"tree of {len(partition.levels) - 1} levels, {partition.cells:,} leaf cells"
        case Patchwork():
            return f"{partition.cells:,} areas that were given"
        case _:
            return f"{partition.cells:,} cells"


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
