"""Whether a file of slices contradicts itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from hushgrid.files.verify import FileCheck, check_geo, check_synopsis
from hushgrid.geometry.quadrants import quadrants_of
from hushgrid.geometry.tree import Tree
from hushgrid.inference.inferences import INFERENCES
from hushgrid.inference.pooled import AKIN
from hushgrid.priors.other_slices import OtherSlices, priors_of_slices
from hushgrid.priors.sharpen import can_be_divided, whole_evidence
from hushgrid.slices.files import SlicedFile
from hushgrid.slices.slices import Slices
from hushgrid.synopsis.synopsis import Synopsis

MOST_OFF = 2  # whole numbers, of evidence in a leaf: on another processor a sum may be rounded to the other side


def check_sliced(file: SlicedFile, slices: Slices) -> tuple[FileCheck, ...]:
    """All checks of an open file of slices, each of all slices together.

    Parameters
    ----------
    slices : Slices
        Those in the file.
    """
    parts = list(slices.all_parts())
    checks = {number: check_synopsis(parts[number][1], tables) for number, tables in file.tables()}
    found = {name: checks[number] for number, (name, _) in enumerate(parts)}
    first = slices[slices.names[0]].partition
    return (*together(found), *check_priors(slices), check_geo(file.metadata, first, covered=True))


def check_priors(slices: Slices) -> Iterator[FileCheck]:
    """Whether priors are the total and all other slices.

    Only of slices that were sharpened by them.
    """
    sharpened = {name: part for name, part in slices.parts.items() if INFERENCES[part.inference].trust == AKIN}
    if not sharpened:
        return
    found = _priors(slices)
    wrong = [name for name, part in sharpened.items() if not _is_prior_of(found.get(name), part)]
    detail = "follow from the total and all other slices"
    if wrong:
        detail = f"slice {wrong[0][:40]!r}: does not follow from the total and all other slices"
    yield FileCheck(name="priors", ok=not wrong, detail=detail)


def _priors(slices: Slices) -> Mapping[str, OtherSlices | None]:
    """The prior that each slice should have; none of slices that cannot have one."""
    parts = [part for _, part in slices.all_parts()]
    fit = all(part.inference.startswith("belief") and can_be_divided(part.partition) for part in parts)
    if slices.total is None or not fit:
        return {}
    try:
        measured = [_as_measured(part) for part in slices.parts.values()]
    except ArithmeticError:  # of a measurement so large that doubles beside it cannot be told apart
        return {}
    return dict(zip(slices.names, priors_of_slices(slices.total, measured), strict=True))


def _as_measured(part: Synopsis) -> Synopsis:
    """A slice by least squares, before it had a prior."""
    measured = part.evidence.measured
    return Synopsis.infer(
        measured.partition, measured.measurements, inference="least-squares", claim=part.claim, method=part.method
    )


def _is_prior_of(found: OtherSlices | None, part: Synopsis) -> bool:
    known, tree = part.prior, part.partition
    if found is None or known is None or known.leaves is None or known.sha256 != found.sha256:
        return False
    assert isinstance(tree, Tree)
    return bool(np.abs(whole_evidence(found, quadrants_of(tree)) - known.leaves).max() <= MOST_OFF)


def together(found: Mapping[str | None, Iterable[FileCheck]]) -> Iterator[FileCheck]:
    """Checks of every slice as one check of each kind.

    Parameters
    ----------
    found : mapping
        Checks by slice; the total has no name.

    Examples
    --------
    >>> right, wrong = (FileCheck(name="size", ok=ok, detail="no size") for ok in (True, False))
    >>> [check.detail for check in together({"bike": [right], "bus": [wrong]})]
    ["slice 'bus': no size"]
    """
    by_kind: dict[str, list[tuple[str | None, FileCheck]]] = {}
    for name, checks in found.items():
        for check in checks:
            by_kind.setdefault(check.name, []).append((name, check))
    for kind, named in by_kind.items():
        failed = [(name, check) for name, check in named if not check.ok]
        yield FileCheck(name=kind, ok=not failed, detail=_detail(failed or named))


def _detail(checks: Sequence[tuple[str | None, FileCheck]]) -> str:
    """What a check found in all slices, or first in which."""
    name, first = checks[0]
    others = [check for _, check in checks[1:] if check.detail != first.detail]
    if first.ok and not others:
        return first.detail
    called = "total" if name is None else f"slice {name[:40]!r}"
    more = f"; {len(checks) - 1:,} more likewise" if len(checks) > 1 else ""
    return f"{called}: {first.detail}{more}"
