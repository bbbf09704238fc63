"""How far off the count of a rectangle may be expected to be."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ExpectedError:
    """Errors of the counts of rectangles of one size, each somewhere around a point.

    Parameters
    ----------
    rectangle : "small", "medium" or "large"
        Of the domain's shape.
    area_share : float
        Share of the domain that it covers.
    points : float
        Points that half of these rectangles hold more of.
    typical_error, reach : float
        What half of the errors, and 95 % of them, are below, in points.
    relative_typical_error, relative_reach : float
        The same of errors as shares of the points in the rectangle.
    """

    rectangle: str
    area_share: float
    points: float
    typical_error: float
    reach: float
    relative_typical_error: float
    relative_reach: float
