"""The cell of a point, as an expression that narwhals translates for any engine.

It is the expression of `hushgrid.geometry.cells`, in float64, term by term.
"""

import narwhals as nw

from hushgrid.counting.engine.engine import Engine
from hushgrid.geometry import cells
from hushgrid.geometry.domain import Domain

LONGITUDE, LATITUDE, USER = "longitude", "latitude", "user"


def cell(coordinate: nw.Expr, low: nw.Expr, scale: nw.Expr, count: int | nw.Expr) -> nw.Expr:
    """Index of the cell that holds a coordinate, in 0 to ``count - 1``."""
    return ((coordinate - low) * scale).floor().cast(nw.Int64).clip(0, count - 1)


def place(engine: Engine, domain: Domain, *, columns: int, rows: int) -> tuple[nw.Expr, nw.Expr]:
    """Column and row of a point on a grid of the whole domain."""
    west, south, east, north = domain.bounds
    column_scale, row_scale = float(cells.scale(west, east, columns)), float(cells.scale(south, north, rows))
    return (
        cell(nw.col(LONGITUDE), engine.number(west), engine.number(column_scale), columns),
        cell(nw.col(LATITUDE), engine.number(south), engine.number(row_scale), rows),
    )


def inside(engine: Engine, domain: Domain, longitude: nw.Expr, latitude: nw.Expr) -> nw.Expr:
    """Whether a point lies in the domain, its edges included; NaN does not, wherever an engine sorts it."""
    west, south, east, north = map(engine.number, domain.bounds)
    # DuckDB drops a comparison, or a test for NaN, that holds by the statistics of a Parquet file: they leave NaN out.
    zero = engine.number(0.0)
    is_number = (longitude - longitude == zero) & (latitude - latitude == zero)
    return is_number & (longitude >= west) & (longitude <= east) & (latitude >= south) & (latitude <= north)
