"""A small release to ask about areas."""

from pathlib import Path

from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid
from tests.synopses import synopsis_on


def small_release(folder: Path) -> Path:
    """Two rows of three cells."""
    path = folder / "small.dp.parquet"
    synopsis_on(Grid(domain=Domain(west=0, south=0, east=2, north=1), rows=2, columns=3)).save(path)
    return path
