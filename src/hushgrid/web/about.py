"""The fine print of a map: what the release is and promises, a label and a text each."""

from hushgrid.synopsis.claim import Claim, MethodRecord
from hushgrid.synopsis.meaning import caveats
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.version import __version__


def about(synopsis: Synopsis) -> dict[str, str]:
    """Everything a reader of the map should know, from released values alone."""
    notes = "; ".join(synopsis.method.notes)
    bounds = ", ".join(f"{bound:.10g}" for bound in synopsis.domain.bounds)
    return {
        "Method": _method(synopsis.method),
        "Privacy budget": f"ε = {float(synopsis.claim.epsilon):g}, δ = 0",
        "Protects": _unit(synopsis.claim),
        "Cells": f"{synopsis.partition.cells:,}",
        "Domain": f"{bounds} (west, south, east, north)",
        "Coordinates": synopsis.domain.crs,
        **({"Notes": notes} if notes else {}),
        **({"Counts": " ".join(caveats(synopsis))} if caveats(synopsis) else {}),
        "Made with": f"hushgrid {__version__}",
    }


def _method(method: MethodRecord) -> str:
    given = {name: value for name, value in method.parameters.items() if value is not None}
    texts = (f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in given.items())
    return ", ".join([method.name, *texts])


def _unit(claim: Claim) -> str:
    if claim.unit == "record":
        return "one record"
    return f"one user, of whom at most {claim.max_per_unit:,} records were kept"
