"""Points in the Parquet files of a folder, which are one table."""

from collections.abc import Sequence
from pathlib import Path

from hushgrid.counting.folder import parquet_files
from hushgrid.counting.parquet import ParquetPoints
from hushgrid.counting.snapshot import files_state
from hushgrid.counting.source import FilePart
from hushgrid.errors import InputError
from hushgrid.files.paths import irregularity
from hushgrid.geometry.domain import Domain


class ParquetFolder:
    """A folder of Parquet or GeoParquet files with points in the same columns, as Spark and others write.

    Privacy
    -------
    Reads of each file what `ParquetPoints` does. A file that is added, removed or changed between passes is an error,
    so that all of them read one snapshot.
    """

    def __init__(
        self,
        folder: Path,
        *,
        domain: Domain,
        lon: str | None = None,
        lat: str | None = None,
        geometry: str | None = None,
        user: str | None = None,
    ) -> None:
        self._folder = folder
        self._paths = parquet_files(folder)
        for path in self._paths:
            complaint = irregularity(path)
            if complaint is not None:
                msg = f"{path} {complaint}. Remove it from the folder, or mend it."
                raise InputError(msg)
        self._files = [
            ParquetPoints(path, domain=domain, lon=lon, lat=lat, geometry=geometry, user=user) for path in self._paths
        ]
        self._check_columns()

    def rows(self) -> int:
        """Number of rows, from the footers."""
        return sum(file.rows() for file in self._files)

    def parts(self) -> Sequence[FilePart]:
        """The row groups of all files."""
        rows = max(1, self.rows())
        return [FilePart(part, file.rows() / rows) for file in self._files for part in file.parts()]

    def check_unchanged(self) -> None:
        """Refuse a folder of which a file has changed, come or gone since it was opened."""
        for file in self._files:
            file.check_unchanged()
        if parquet_files(self._folder) != self._paths:
            msg = f"{self._folder} changed while it was being published. Publish a copy that nothing writes to."
            raise InputError(msg)

    def state(self) -> bytes:
        """What tells the files from others, or from themselves after a change of one or of their list."""
        names = [str(path.relative_to(self._folder)) for path in self._paths]
        return files_state({name: file.snapshot for name, file in zip(names, self._files, strict=True)})

    def _check_columns(self) -> None:
        first = self._files[0].columns
        for path, file in zip(self._paths, self._files, strict=True):
            if file.columns != first:
                msg = f"{path} has its points in {_listed(file.columns)}, and {self._paths[0]} in {_listed(first)}. "
                msg += "The files of a folder are one table: write them with the same columns, or name some that all "
                msg += "have: lon=, lat=, or geometry=."
                raise InputError(msg)


def _listed(columns: Sequence[str]) -> str:
    return " and ".join(map(repr, columns))
