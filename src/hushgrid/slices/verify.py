"""Whether a file of slices contradicts itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from hushgrid.files.verify import FileCheck, check_geo, check_synopsis
from hushgrid.slices.files import SlicedFile
from hushgrid.slices.slices import Slices


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
    return (*together(found), check_geo(file.metadata, first, covered=True))


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
