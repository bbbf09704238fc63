"""A release charged to a ledger, its warnings, and the papers beside it."""

import hashlib
import math
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Self

from hushgrid.cli.files import STANDARD_INPUT, progress_bar
from hushgrid.cli.ledger import DEFAULT
from hushgrid.cli.parameters import exact_text
from hushgrid.cli.text import note, warn
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain

if TYPE_CHECKING:
    from hushgrid.counting.engine.address import Address
    from hushgrid.ledger.ledger import Ledger
    from hushgrid.ledger.reservation import CommittedRelease, Reservation
    from hushgrid.release.request import Job
    from hushgrid.synopsis.synopsis import Synopsis


MANIFEST, REGISTRY = ".manifest.md", ".registry.yaml"  # in place of the suffix of the release


def manifest_paths(output: Path) -> tuple[Path, Path]:
    """Where the manifest of a release goes, and its entry for the registry of deployments.

    Examples
    --------
    >>> print(*manifest_paths(Path("trips.dp.parquet")))
    trips.dp.manifest.md trips.dp.registry.yaml
    """
    return output.with_suffix(MANIFEST), output.with_suffix(REGISTRY)


def write_manifest_files(synopsis: "Synopsis", output: Path, *, overwrite: bool) -> None:
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
    for path, text in zip(manifest_paths(output), texts, strict=True):
        with new_file(path, overwrite=overwrite) as out:
            out.write(text.encode())
        note(f"wrote {path}")


CLEAR_GAP = 6  # standard deviations of the noise; chance alone makes such a gap once in thousands of releases
PROMISES_LITTLE = 20  # of epsilon: odds may change by a factor of hundreds of millions


def warn_of_large(epsilon: Fraction) -> None:
    """Say that a budget is so large that it hardly protects."""
    if epsilon > PROMISES_LITTLE:
        warn(
            f"epsilon {float(epsilon):g} protects next to nobody. Usual are 0.1 to 10; less is more private. "
            "'hushgrid plan' tells how accurate a release with less would be."
        )


def warn_of_domain(synopsis: "Synopsis") -> None:
    """Say that hardly any points seem to lie in the domain, and why that may be."""
    if seems_misplaced(synopsis):
        warn(
            "far fewer points seem to lie in the domain than there are rows. Are longitude and latitude swapped? "
            f"Then exchange --lon and --lat{_exchanged(synopsis.domain)}. "
            "Are the points in metres? Then name their system with --crs. "
            "If the domain is meant to cover only part of the data, --size-from domain gives a better grid. "
            "Publishing again spends budget again."
        )


def _exchanged(domain: Domain) -> str:
    """The domain with longitude and latitude exchanged, where those are degrees."""
    west, south, east, north = domain.bounds
    try:
        other = Domain(west=south, south=west, east=north, north=east, crs=domain.crs)
    except ArgumentError:
        return ""
    return f", or give --domain {exact_text(other.bounds)}"


def seems_misplaced(synopsis: "Synopsis") -> bool:
    """Whether the domain seems to hold less than half of the rows, judged from released values alone.

    Swapped axes look like this, and a domain that covers only part of the data.
    """
    from hushgrid.inference.measurements import discrete_laplace_variance

    claim = synopsis.claim
    if claim.size is None or claim.size.source != "rows":
        return False
    rate = next(spend.epsilon for spend in claim.spends if spend.purpose == "size")
    total = synopsis.answer(synopsis.domain.bounds)
    noise_std = math.sqrt(discrete_laplace_variance(rate) + total.noise_std**2)
    gap = claim.size.value - total.estimate
    return bool(total.estimate < claim.size.value / 2 and gap > CLEAR_GAP * noise_std)


@dataclass(frozen=True, kw_only=True)
class LedgerOptions:
    """Where a release is charged, as the options of ``hushgrid publish`` say.

    Parameters
    ----------
    place : str
        Path or URL of the ledger.
    dataset : str
        The data set in it.
    new_release : bool
        Whether to pay for a release that the ledger has already.
    resume : int or None
        The entry of a run that was cut off.
    """

    place: str
    dataset: str
    new_release: bool
    resume: int | None

    @classmethod
    def of(cls, dataset: str | None, *, ledger: str | None, new_release: bool, resume: int | None) -> Self | None:
        """The account that the options name, or None where they name none."""
        if new_release and resume is not None:
            msg = "--resume goes on with a release that was begun, --new-release pays for another. Give one of them."
            raise ArgumentError(msg)
        if dataset is not None:
            place = ledger or os.environ.get("HUSHGRID_LEDGER") or DEFAULT
            return cls(place=place, dataset=dataset, new_release=new_release, resume=resume)
        for option, given in {"--ledger": ledger, "--new-release": new_release, "--resume": resume}.items():
            if given:
                msg = f"{option} needs --dataset NAME: the data set that the release is charged to. "
                msg += "'hushgrid ledger show' lists those of a ledger, 'hushgrid ledger init' adds one."
                raise ArgumentError(msg)
        return None

    def publish(self, job: "Job", points: "Path | Address", output: Path, *, overwrite: bool) -> "Synopsis":
        """Reserve, publish, commit, and let the release appear; or let the one appear that the ledger has."""
        _refuse_standard_input(points)
        from hushgrid.ledger.ledger import open_ledger
        from hushgrid.ledger.reservation import CommittedRelease
        from hushgrid.synopsis.synopsis import read

        with open_ledger(self.place) as ledger:
            request = job.request(self.dataset)
            if self.resume is None:
                answer = ledger.reserve(request, new_release=self.new_release)
            else:
                answer = ledger.resume(self.resume, request)
            if isinstance(answer, CommittedRelease):
                note(
                    f"The ledger has this release as entry {answer.entry.number}. It is given back, byte for byte, and "
                    "nothing was spent. To pay for another one, pass --new-release."
                )
                release = answer
            else:
                release = _fulfilled(job, points, answer, folder=output.parent)
                _say_what_is_left(ledger, release)
            release.save(output, overwrite=overwrite)
        return read(output)


def _refuse_standard_input(points: "Path | Address") -> None:
    if str(points) == STANDARD_INPUT:
        msg = "a run with --dataset that is cut off goes on with the same points, and standard input is gone by then. "
        msg += "Save it to a file first."
        raise ArgumentError(msg, instead={"points": "POINTS.csv"})


def _fulfilled(job: "Job", points: "Path | Address", reservation: "Reservation", *, folder: Path) -> "CommittedRelease":
    from hushgrid.release.reserved import publish_reserved

    try:
        with progress_bar() as progress:
            return publish_reserved(job, points, reservation, folder=folder, progress=progress)
    except BaseException as error:
        for text in getattr(error, "__notes__", ()):
            note(text)
        raise


def _say_what_is_left(ledger: "Ledger", release: "CommittedRelease") -> None:
    from hushgrid.ledger.book import amount

    entry = release.entry
    account = ledger.book().account(entry.dataset)
    note(
        f"Entry {entry.number} of the ledger: epsilon {amount(entry.charged)} of the data set {entry.dataset!r} is "
        f"spent, {amount(account.left)} of {amount(account.budget)} is left."
    )
