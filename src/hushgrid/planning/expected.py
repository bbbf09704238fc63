"""What a release would be like: cells, errors, time and memory."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from hushgrid.counting.counter import OpenedPoints, kind_of
from hushgrid.geometry.areas import AreaPartition
from hushgrid.methods.areas import Areas
from hushgrid.planning.levels import plan_levels
from hushgrid.planning.plan import plan
from hushgrid.planning.users import MOST_PER_USER
from hushgrid.planning.words import about, rounded_percent
from hushgrid.release.advice import total_reach
from hushgrid.release.cost import memory_in_words, time_in_words
from hushgrid.release.request import ReleaseRequest
from hushgrid.release.sliced import share_of_total

PLANNED = "staq"  # whose errors stand for those of methods that are not rehearsed


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What public figures tell of a release.

    Parameters
    ----------
    cells : int, optional
        About how many.
    total_reach : float, optional
        How far the total may be off, 95 % of the time.
    errors : tuple of str
        How far counts may be off, in words.
    seconds, memory : float, optional
        About how long it takes, and how many bytes.
    slices : int, optional
        How many there are; cells, errors and total are then those of one.
    """

    cells: int | None
    total_reach: float | None
    errors: tuple[str, ...]
    seconds: float | None
    memory: float | None
    slices: int | None = None

    @classmethod
    def of(cls, request: ReleaseRequest, size: int | None, source: OpenedPoints | None) -> Self:
        """What to expect of a request on about `size` points.

        The size is None where it is not public.
        """
        cost = replace(request.cost, size=size, kind="table" if source is None else kind_of(source))
        is_known = size is not None
        one, part = (request, size) if request.by is None else slice_planned(request, size)
        cells = replace(one.cost, size=part).about_cells
        return cls(
            slices=None if request.by is None else len(request.by.names),
            cells=cells if is_known or request.cells is not None else None,
            total_reach=None if part is None else total_reach(one, part),
            errors=_errors(one, part),
            seconds=cost.seconds if is_known else None,
            memory=cost.memory if is_known else None,
        )

    def in_words(self) -> dict[str, str]:
        """The same by label."""
        said = {}
        each = "" if self.slices is None else " in each slice"
        if self.cells is not None:
            said["cells"] = f"about {about(self.cells)}{each}"
        if self.errors:
            first = [] if self.slices is None else ["Of one slice, as if all had the same number of points:"]
            said["errors"] = " ".join([*first, *self.errors])
        if self.total_reach is not None:
            said["total"] = f"off by no more than about {about(self.total_reach)}{each}, 95 times in 100"
        if self.seconds is not None and self.memory is not None:
            said["takes"] = f"{time_in_words(self.seconds)} and {memory_in_words(self.memory)}"
        return said

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {**asdict(self), "errors": list(self.errors)}


def slice_planned(request: ReleaseRequest, size: int | None) -> tuple[ReleaseRequest, int | None]:
    """The request for one slice, and about how many points it has.

    What the total and other slices tell of it is not foreseen: errors are those of a slice on its own.
    """
    assert request.by is not None
    epsilon = request.epsilon * (1 - share_of_total(len(request.by.names))) if request.has_total else request.epsilon
    part = None if size is None else max(1, size // len(request.by.names))
    return replace(request, by=None, epsilon=epsilon), part


def _errors(request: ReleaseRequest, size: int | None) -> tuple[str, ...]:
    most = 1 if request.users is None else request.users.max_per_user
    if most > MOST_PER_USER:
        return ()
    if isinstance(request.cells, AreaPartition) and isinstance(request.method, Areas):
        shares = request.method.shares_of(request.cells)
        made = plan_levels(request.cells, epsilon=request.epsilon, max_per_user=most, shares=shares)
        reaches = zip(made.levels, made.chosen.reaches, strict=True)
        each = (f"{level.name or 'areas'} by up to {about(reach)}" for level, reach in reaches)
        return (f"Counts of areas may be off, 95 times in 100: {', '.join(each)}.",)
    if request.cells is not None:
        reach = math.log(20) / request.cost.epsilon  # of one Laplace noise
        return (f"The count of a cell may be off by up to {about(reach)}, 95 times in 100.",)
    return () if size is None else _of_rectangles(request, size, most)


def _of_rectangles(request: ReleaseRequest, size: int, most: int) -> tuple[str, ...]:
    all_records = request.users is not None and request.users.all_records
    made = plan(
        request.domain,
        points_about=max(size, 1),
        epsilon=request.epsilon,
        max_per_user=most,
        estimate="all-records" if all_records else "kept-records",
        size_share=request.size_share,
    )
    rows = {row.method: row for row in made.methods}
    row = rows.get(request.method.name, rows[PLANNED])
    said = [
        f"Counts over {rounded_percent(error.area_share)} of the domain, about {about(error.points)} points each, may "
        f"be off by up to {about(error.reach)}, 95 times in 100."
        for error in row.errors
    ]
    return (*said, f"These figures are for {row.method} and made-up points; see 'hushgrid plan'.")
