"""The paper-work of a release, in files beside it."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hushgrid.cli.notes import note

if TYPE_CHECKING:
    from hushgrid.synopsis.synopsis import Synopsis

MANIFEST, REGISTRY = ".manifest.md", ".registry.yaml"  # in place of the suffix of the release


def paper_paths(output: Path) -> tuple[Path, Path]:
    """Where the manifest of a release goes, and its entry for the registry of deployments.

    Examples
    --------
    >>> print(*paper_paths(Path("trips.dp.parquet")))
    trips.dp.manifest.md trips.dp.registry.yaml
    """
    return output.with_suffix(MANIFEST), output.with_suffix(REGISTRY)


def write_papers(synopsis: "Synopsis", output: Path, *, overwrite: bool) -> None:
    """Write both, about the release in a file."""
    from hushgrid.export.manifest import manifest
    from hushgrid.export.registry import registry_entry
    from hushgrid.files.paths import new_file

    with output.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    texts = (
        manifest(synopsis, name=output.name, sha256=sha256),
        registry_entry(synopsis, name=output.name, sha256=sha256, published=f"{datetime.now(UTC):%Y-%m-%d}"),
    )
    for path, text in zip(paper_paths(output), texts, strict=True):
        with new_file(path, overwrite=overwrite) as out:
            out.write(text.encode())
        note(f"wrote {path}")
