"""What a release is and promises, as plain values for JSON."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hushgrid.cli.rectangles import COLUMNS

if TYPE_CHECKING:
    from hushgrid.geometry.partition import Partition
    from hushgrid.synopsis.answer import Calibration
    from hushgrid.synopsis.claim import Claim, Size
    from hushgrid.synopsis.synopsis import Synopsis

CONFIDENCE = 0.95


def as_values(synopsis: "Synopsis") -> dict[str, Any]:
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


def _structure(partition: "Partition") -> dict[str, Any]:
    from hushgrid.geometry.areas import Patchwork
    from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT, Grid, GroupedGrid, NestedGrid
    from hushgrid.geometry.tree import Tree

    structure: dict[str, Any] = {"cells": partition.cells, "guideline_cell_limit": GUIDELINE_CELL_LIMIT}
    if isinstance(partition, Tree):
        structure |= {"nodes": partition.nodes, "levels": len(partition.levels) - 1}
    if isinstance(partition, GroupedGrid):
        structure |= {"groups": int(partition.groups.max()) + 1}
        partition = partition.nested
    if isinstance(partition, NestedGrid):
        structure |= {"smallest_side": int(partition.sides.min()), "largest_side": int(partition.sides.max())}
        partition = partition.grid
    if isinstance(partition, Grid):
        structure |= {"rows": partition.rows, "columns": partition.columns}
    if isinstance(partition, Patchwork):
        structure |= {"areas": list(partition.names), "vertices": len(partition.vertices)}
    return structure


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
