"""Whether a release file contradicts itself.

A file that passes is consistent: its counts follow from its measurements, its cells from its structure, and its claim
from the noise it says was added. That does not prove that the noise was added, nor that nobody has made up the whole
file: only the digest kept in the publisher's ledger shows that.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hushgrid.arrays import Floats
from hushgrid.files.geo import CORNERS, GEO, describes
from hushgrid.files.release import BBOX, ReleaseFile, open_release
from hushgrid.geometry.domain import BOUNDS
from hushgrid.geometry.partition import Structure
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.measurements import rate_totals
from hushgrid.synopsis.all_records import AllRecords
from hushgrid.synopsis.cells import names, places, shape_type, shapes
from hushgrid.synopsis.claim import BY_USER, REGIONS, TOTAL, USERS, Claim
from hushgrid.synopsis.region_fit import to_all_records
from hushgrid.synopsis.scale import Scale
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.text import aligned

TOLERANCE = 1e-9  # relative and absolute: machines add up in different orders
FIT_TOLERANCE = 1e-6  # of ratios, which follow from sums over many leaves


@dataclass(frozen=True, kw_only=True)
class FileCheck:
    """One check, and what it found."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification:
    """Every check of a release file, in order; printing it lists them.

    Examples
    --------
    >>> Verification(checks=(FileCheck(name="size", ok=False, detail="noisy size, not paid for"),))
    FAILED  size  noisy size, not paid for
    """

    checks: tuple[FileCheck, ...]

    def __repr__(self) -> str:
        return aligned([["ok" if check.ok else "FAILED", check.name, check.detail] for check in self.checks], left=3)

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return all(check.ok for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Every check, as values for JSON."""
        return {"ok": self.ok, "checks": [asdict(check) for check in self.checks]}


def verify_file(path: str | Path) -> Verification:
    """Check whether a release file contradicts itself.

    All of it that follows from the rest is recomputed.

    A file too damaged to be read is an error, as it is for `read`.
    """
    with open_release(Path(path)) as release:
        return Verification(checks=check_release(release, release.synopsis()))


def check_release(release: ReleaseFile, synopsis: Synopsis) -> tuple[FileCheck, ...]:
    """All checks of an open release file.

    The synopsis is the one in the file.
    """
    geo = check_geo(release.metadata, synopsis.partition, covered=BBOX.name in release.columns.names)
    return (*check_synopsis(synopsis, release.row_groups()), geo)


def check_synopsis(synopsis: Synopsis, rows: Iterable[pa.Table]) -> tuple[FileCheck, ...]:
    """All checks of one release and the rows of its leaves, part by part."""
    return (
        _simulation(synopsis.claim),
        _spends(synopsis.claim),
        _size(synopsis.claim),
        _rates(synopsis),
        *_total(synopsis),
        *_places(synopsis),
        *_cells(rows, synopsis),
    )


def _simulation(claim: Claim) -> FileCheck:
    detail = "seeded noise: an experiment, not a release" if claim.simulation else "not marked as a simulation"
    return FileCheck(name="release", ok=not claim.simulation, detail=detail)


def _spends(claim: Claim) -> FileCheck:
    spent = sum((spend.epsilon for spend in claim.spends), Fraction(0)) * claim.max_per_unit
    return FileCheck(name="spends", ok=spent == claim.epsilon, detail=f"spends of {spent}, a claim of {claim.epsilon}")


def _size(claim: Claim) -> FileCheck:
    paid = any(spend.purpose == "size" for spend in claim.spends)
    noisy = claim.size is not None and claim.size.source != "public"
    kind = "noisy" if noisy else "public" if claim.size is not None else "no"
    return FileCheck(name="size", ok=paid == noisy, detail=f"{kind} size, {'paid for' if paid else 'not paid for'}")


def _rates(synopsis: Synopsis) -> FileCheck:
    totals, denominator = rate_totals(synopsis.measurements)
    claim = synopsis.claim
    unmeasured = sum((spend.epsilon for spend in claim.spends if not spend.measured), Fraction(0))
    cost = (Fraction(int(totals.max()), denominator) + unmeasured) * claim.max_per_unit
    detail = f"noise on the costliest leaf and what left no measurement worth {cost}, a claim of {claim.epsilon}"
    return FileCheck(name="rates", ok=cost == claim.epsilon, detail=detail)


def _total(synopsis: Synopsis) -> Iterator[FileCheck]:
    """Whether the number of all records was paid for, once.

    It must be the one that counts were scaled to.
    """
    claim, scale = synopsis.claim, synopsis.scale
    spends = sum(spend.purpose == TOTAL for spend in claim.spends)
    if claim.total is None and not spends:
        return
    fits = claim.total is not None and claim.unit == "user" and not claim.distinct
    if claim.total is not None and scale is not None and not _is_beside(scale):
        fits &= (scale.source, scale.total, scale.cap) == ("private", claim.total.value, claim.total.cap)
    detail = f"{'a' if fits else 'not a'} number of all records, {'paid for' if spends else 'not paid for'}"
    yield FileCheck(name="total", ok=fits and spends == 1, detail=detail)


def _places(synopsis: Synopsis) -> Iterator[FileCheck]:
    """Whether noise in places costs a record as much as claimed.

    Such a record pays for nothing around the places, not even for a noisy size.
    """
    claim, places = synopsis.claim, synopsis.places
    if places is None:
        return
    before = sum((spend.epsilon for spend in claim.spends if spend.purpose in BY_USER), Fraction(0))
    cost = (places.rate + before) * claim.max_per_unit
    detail = f"noise on each of {places.areas.cells:,} worth {cost}, a claim of {claim.epsilon}"
    yield FileCheck(name="places", ok=cost == claim.epsilon, detail=detail)


def _is_beside(scale: Scale) -> bool:
    """Whether a noisy total was measured beside a public one.

    Counts are then scaled to the public one.
    """
    return scale.source == "public" and scale.all_records is not None


def _scale(claim: Claim, scale: Scale, counts: Floats) -> FileCheck:
    paid = any(spend.purpose == TOTAL for spend in claim.spends)
    follows = scale.follows_from(counts, tolerance=TOLERANCE)
    detail = f"{'as' if follows else 'not as'} the {scale.source} total asks, {'paid for' if paid else 'not paid for'}"
    return FileCheck(
        name="scale", ok=follows and paid == (scale.source == "private" or _is_beside(scale)), detail=detail
    )


def _all_records(synopsis: Synopsis, scale: Scale, known: AllRecords, counts: Floats) -> FileCheck:
    """Whether users and regions were paid for, once, and the rest follows from them."""
    purposes = [spend.purpose for spend in synopsis.claim.spends]
    if not all(purposes.count(each) == 1 for each in (USERS, REGIONS, TOTAL)):
        return FileCheck(name="all records", ok=False, detail="users and regions, not paid for")
    shape = replace(synopsis, counts=counts, scale=None)
    expected = to_all_records(shape, scale, users=known.users, regions=known.regions)
    follow = all(
        np.allclose(value, getattr(expected, name), rtol=FIT_TOLERANCE, atol=FIT_TOLERANCE)
        for name, value in vars(known).items()
    )
    detail = f"users and regions, paid for; ratios {'follow' if follow else 'do not follow'} from them"
    return FileCheck(name="all records", ok=follow, detail=detail)


def _cells(leaves: Iterable[pa.Table], synopsis: Synopsis) -> Iterator[FileCheck]:
    inference = INFERENCES[synopsis.inference]
    try:
        counts = inference.counts(synopsis.evidence)
    except ArithmeticError:  # of a measurement so large that doubles beside it cannot be told apart
        yield FileCheck(name="counts", ok=False, detail="cannot be found from the measurements")
        return
    if synopsis.places is not None:
        counts = synopsis.places_on_tree.added(counts)
    if synopsis.scale is not None:
        yield _scale(synopsis.claim, synopsis.scale, counts)
        if synopsis.scale.all_records is not None:
            yield _all_records(synopsis, synopsis.scale, synopsis.scale.all_records, counts)
    expected = replace(synopsis, counts=synopsis.leaf_factors * counts)
    first_wrong: dict[str, int | None] = {}
    first = 0
    for rows in leaves:
        part = slice(first, first + rows.num_rows)
        for name, wrong in _wrong(rows, expected, part).items():
            if first_wrong.setdefault(name) is None and wrong.any():
                first_wrong[name] = first + int(np.argmax(wrong))
        first = part.stop
    for name, cell in first_wrong.items():
        source = "measurements" if name in ("counts", "standard errors") else "structure"
        detail = f"follow from the {source}" if cell is None else f"cell {cell} does not follow from the {source}"
        if name == "counts" and inference.slack and cell is None:
            detail += f" within {inference.slack:g} standard errors: those of the older inference {inference.name!r}"
            detail += " differ between machines"
        yield FileCheck(name=name, ok=cell is None, detail=detail)


def _wrong(rows: pa.Table, expected: Synopsis, part: slice) -> dict[str, NDArray[np.bool_]]:
    partition, errors = expected.partition, np.sqrt(expected.variances[part])
    slack = INFERENCES[expected.inference].slack
    columns, called = places(partition, part.start, part.stop), names(partition)
    different = {name: np.array(pc.not_equal(rows[name], values)) for name, values in columns.items()}
    return {
        "counts": ~_close(rows["count"], expected.counts[part], allowed=TOLERANCE + slack * errors),
        "standard errors": ~_close(rows["std_error"], errors),
        "bounds": np.any([different[name] for name in BOUNDS], axis=0),
        "polygons": _wrong_polygons(rows["geometry"].combine_chunks(), shapes(partition, part.start, part.stop)),
        **({"names": np.any([different[name] for name in called], axis=0)} if called else {}),
        **({"boxes": _wrong_boxes(rows[BBOX.name], columns)} if BBOX.name in rows.column_names else {}),
    }


def _wrong_boxes(stored: pa.ChunkedArray, expected: Mapping[str, pa.Array]) -> NDArray[np.bool_]:
    corners = zip(CORNERS, BOUNDS, strict=True)
    different = [pc.not_equal(pc.struct_field(stored, corner), expected[bound]) for corner, bound in corners]
    return np.asarray(np.any([np.array(each) for each in different], axis=0))


def _wrong_polygons(stored: pa.DictionaryArray, expected: pa.BinaryArray) -> NDArray[np.bool_]:
    # Lengths are compared first: one huge polygon, repeated, would not fit in memory.
    lengths = np.array(pc.binary_length(stored.dictionary))[stored.indices]
    wrong = lengths != np.array(pc.binary_length(expected))
    if wrong.any():
        return np.asarray(wrong)
    return np.array(pc.not_equal(stored.dictionary_decode(), expected))


def _close(
    stored: pa.ChunkedArray, expected: NDArray[np.float64], allowed: float | NDArray[np.float64] = TOLERANCE
) -> NDArray[np.bool_]:
    return np.asarray(np.isclose(np.array(stored), expected, rtol=TOLERANCE, atol=allowed))


def check_geo(metadata: Mapping[bytes, bytes], partition: Structure, *, covered: bool) -> FileCheck:
    """Whether the GeoParquet metadata of a file says what its domain is."""
    ok = describes(metadata.get(GEO, b""), partition.domain, shape_type(partition), covered=covered)
    return FileCheck(name="geo metadata", ok=ok, detail=f"{'as' if ok else 'not as'} the domain says")
