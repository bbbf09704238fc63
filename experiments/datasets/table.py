"""Points of a Parquet file, and the file of a few lines that describes them."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hushgrid.errors import InputError
from hushgrid.geometry.domain import Domain

REQUIRED = {"domain", "largest_query", "size"}  # in a description
OPTIONAL = {"columns", "file", "obtain", "sample"}


@dataclass(frozen=True, kw_only=True)
class TableDataset:
    """Points of a Parquet file.

    Parameters
    ----------
    name : str
        What trials call it.
    domain : Domain
        The public rectangle; points outside are left out.
    largest_query : pair of float
        Width and height of q6, in the units of the domain.
    size : int
        About how many points there are; sizes that are tried lie around those it suggests.
    path : Path
        The file; it need not exist.
    columns : pair of str
        Of longitude and latitude.
    sample : int, optional
        So many of the points, drawn once and for all, if there are more.
    obtain : str
        How to get the file where it is missing.
    """

    name: str
    domain: Domain
    largest_query: tuple[float, float]
    size: int
    path: Path
    columns: tuple[str, str] = ("lon", "lat")
    sample: int | None = None
    obtain: str = "Let HUSHGRID_DATA name the folder that holds it, or take a generated set such as clusters_small."

    @classmethod
    def described_by(cls, description: Path, *, folder: Path) -> Self:
        """The data set that a TOML file describes; it is named as the file is, and so is its Parquet file.

        Parameters
        ----------
        description : Path
            A file of ``domain = [W, S, E, N]``, ``largest_query = [width, height]`` and ``size``, and if need be
            ``file``, ``columns``, ``sample`` and ``obtain``.
        folder : Path
            Where the Parquet file lies.
        """
        values: dict[str, Any] = tomllib.loads(description.read_text(encoding="utf-8"))
        if not REQUIRED <= set(values) <= REQUIRED | OPTIONAL:
            needed, allowed, given = (", ".join(sorted(names)) for names in (REQUIRED, OPTIONAL, values))
            msg = f"the description {description.name} must have {needed} and may have {allowed}; it has {given}."
            raise InputError(msg)
        values["domain"] = Domain.parse(",".join(map(str, values["domain"])))
        values["path"] = folder / values.pop("file", f"{description.stem}.parquet")
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(name=description.stem, **{**values, **lists})

    @property
    def at_hand(self) -> bool:
        """Whether the file is there."""
        return self.path.is_file()

    def points(self) -> NDArray[np.float64]:
        """Longitude and latitude of the points in the domain, shape (n, 2)."""
        points = self.column_values(*self.columns)
        west, south, east, north = self.domain.bounds
        inside = (points >= (west, south)) & (points <= (east, north))
        points = points[inside.all(axis=1)]
        if self.sample is None or self.sample >= len(points):
            return points
        return np.random.default_rng(0).choice(points, self.sample, replace=False)

    def column_values(self, *names: str) -> NDArray[np.float64]:
        """Some columns of every row, shape (n, columns)."""
        if not self.at_hand:
            msg = f"data set {self.name} needs the file {self.path.name} in {self.path.parent}, which is not there. "
            raise InputError(msg + self.obtain)
        known = pq.read_schema(self.path).names
        if not set(names) <= set(known):
            msg = f"{self.path.name} has no columns {', '.join(names)}; it has {', '.join(known)}."
            raise InputError(msg)
        table = pq.read_table(self.path, columns=list(names))
        return np.column_stack([table.column(name).to_numpy().astype(np.float64) for name in names])
