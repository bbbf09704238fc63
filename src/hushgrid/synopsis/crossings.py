"""How often the rings of a polygon cross, counted before anybody tries to repair it."""

from typing import Any

MOST_CROSSINGS = 5_000  # a repair takes seconds at this number, and grows with its square
PAIRS_AT_ONCE = 2**22


def is_tangled(polygon: Any) -> bool:
    """Whether segments of a polygon's rings meet so often that a repair would not end, or not fit in memory.

    Examples
    --------
    >>> from shapely import Polygon
    >>> is_tangled(Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]))
    False
    """
    import numpy as np
    import shapely

    places, ring = shapely.get_coordinates(shapely.get_rings(shapely.get_parts(polygon)), return_index=True)
    joined = ring[1:] == ring[:-1]
    segments = shapely.linestrings(np.stack([places[:-1][joined], places[1:][joined]], axis=1))
    tree, step = shapely.STRtree(segments), max(1, min(len(segments), PAIRS_AT_ONCE // max(1, len(segments))))
    meetings = 0
    for first in range(0, len(segments), step):
        some = segments[first : first + step]
        # Each meets itself and its neighbours in the ring, and every other is found from both of its sides.
        meetings += tree.query(some, predicate="intersects").shape[1] - 3 * len(some)
        if meetings > 2 * MOST_CROSSINGS:
            return True
    return False
