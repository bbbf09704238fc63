"""The fine print of a map: what the release is and promises, a label and a text each."""

from hushgrid.synopsis.claim import Claim
from hushgrid.synopsis.meaning import caveats, parameters
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.version import __version__


def about(synopsis: Synopsis) -> dict[str, str]:
    """Everything a reader of the map should know, from released values alone."""
    notes = "; ".join(synopsis.method.notes)
    bounds = ", ".join(f"{bound:.10g}" for bound in synopsis.domain.bounds)
    return {
        "Method": ", ".join([synopsis.method.name, *parameters(synopsis.method)]),
        "Privacy budget": f"ε = {float(synopsis.claim.epsilon):g}, δ = 0",
        "Protects": _unit(synopsis.claim),
        "Cells": f"{synopsis.partition.cells:,}",
        "Domain": f"{bounds} (west, south, east, north)",
        "Coordinates": synopsis.domain.crs,
        **({"Notes": notes} if notes else {}),
        **({"Counts": " ".join(caveats(synopsis))} if caveats(synopsis) else {}),
        "Made with": f"hushgrid {__version__}",
    }


def _unit(claim: Claim) -> str:
    if claim.unit == "record":
        return "one record"
    return f"one user, of whom at most {claim.max_per_unit:,} records were kept"
