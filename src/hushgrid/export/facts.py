"""What a file made from a release says of it: plain text, a label and a value each."""

from hushgrid.synopsis.meaning import caveats, counted
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.version import __version__

SIMULATION = "The noise came from a seed. This protects nobody and is no release."


def facts(synopsis: Synopsis) -> dict[str, str]:
    """The guarantee, the method and what is counted, from released values alone.

    Examples
    --------
    >>> from tests.plain import UNIT_SQUARE
    >>> from tests.synopses import synopsis_on
    >>> from hushgrid.geometry.grid import Grid
    >>> facts(synopsis_on(Grid(domain=UNIT_SQUARE, rows=1, columns=1)))["epsilon"]
    '1'
    """
    claim, domain = synopsis.claim, synopsis.domain
    notes = " ".join(caveats(synopsis))
    order = "longitude, latitude" if domain.is_geographic else "easting, northing"
    return {
        "guarantee": claim.sentence,
        "epsilon": str(claim.epsilon),
        "unit": claim.unit,
        "method": synopsis.method.name,
        "counted": counted(synopsis),
        **({"notes": notes} if notes else {}),
        "coordinates": f"{order} ({domain.crs})",
        **({"simulation": SIMULATION} if synopsis.simulation else {}),
        "made_with": f"hushgrid {__version__}",
    }
