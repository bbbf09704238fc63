"""The usual names of coordinate columns.

Only names are looked at, never values.
"""

from collections.abc import Sequence

USUAL_NAMES = (("lon", "lat"), ("long", "lat"), ("lng", "lat"), ("longitude", "latitude"), ("x", "y"))


def usual_pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of columns that are called like coordinates, in upper or lower case.

    Examples
    --------
    >>> usual_pairs(["id", "Lon", "Lat"])
    [('Lon', 'Lat')]
    """
    pairs = []
    for usual_east, usual_north in USUAL_NAMES:
        easts = [name for name in names if name.lower() == usual_east]
        norths = [name for name in names if name.lower() == usual_north]
        pairs += [(east, north) for east in easts for north in norths]
    return pairs
