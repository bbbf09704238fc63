"""The cell of a point, as an expression that narwhals translates for any engine.

It gives the cell that `hushgrid.geometry.cells` gives, in float64, bit for bit. It is also total: no value of a row can
make an engine raise an error, not even one whose arithmetic checks for overflow and underflow, as PostgreSQL's does.
"""

import narwhals as nw

from hushgrid.counting.engine.engine import Engine
from hushgrid.geometry import cells
from hushgrid.geometry.domain import Domain

LONGITUDE, LATITUDE, USER = "longitude", "latitude", "user"


def cell(coordinate: nw.Expr, low: nw.Expr, scale: nw.Expr, count: int | nw.Expr) -> nw.Expr:
    """Index of the cell that holds a coordinate of the domain, in 0 to ``count - 1``.

    A distance below half a cell is made half a cell. It lies in the first cell either way, because product and floor
    never fall as the distance grows, and the product with the scale can no longer underflow to zero. Nor can anything
    overflow: the distance is at most the extent of the domain, the product about `count`.
    """
    half_a_cell = 0.5 / scale
    distance = (coordinate - low).clip(lower_bound=half_a_cell)
    return (distance * scale).floor().cast(nw.Int64).clip(upper_bound=count - 1)


def place(engine: Engine, domain: Domain, *, columns: int, rows: int) -> tuple[nw.Expr, nw.Expr]:
    """Column and row of a point on a grid of the whole domain."""
    west, south, east, north = domain.bounds
    column_scale, row_scale = float(cells.scale(west, east, columns)), float(cells.scale(south, north, rows))
    return (
        cell(nw.col(LONGITUDE), engine.number(west), engine.number(column_scale), columns),
        cell(nw.col(LATITUDE), engine.number(south), engine.number(row_scale), rows),
    )


def inside(engine: Engine, domain: Domain, longitude: nw.Expr, latitude: nw.Expr) -> nw.Expr:
    """Whether a point lies in the domain, its edges included; NaN does not, wherever an engine sorts it.

    Any double is compared and subtracted from itself without an error.
    """
    west, south, east, north = map(engine.number, domain.bounds)
    # DuckDB drops a comparison, or a test for NaN, that holds by the statistics of a Parquet file: they leave NaN out.
    zero = engine.number(0.0)
    is_number = (longitude - longitude == zero) & (latitude - latitude == zero)
    return is_number & (longitude >= west) & (longitude <= east) & (latitude >= south) & (latitude <= north)
