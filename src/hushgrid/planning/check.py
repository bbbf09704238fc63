"""A dry run: what a release would be, before any record is read."""

import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, Unpack

from hushgrid.counting.columns import Dialect, PointSchema, check_column_arguments, schema_of
from hushgrid.counting.counter import OpenedPoints, kind_of, nothing
from hushgrid.counting.engine.address import Address
from hushgrid.counting.opening import open_points
from hushgrid.errors import HushgridError
from hushgrid.files.paths import check_target
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, Domain
from hushgrid.ledger.book import amount
from hushgrid.methods.method import Method, check_whole
from hushgrid.planning.expected import Expected
from hushgrid.planning.look import TrueLook
from hushgrid.planning.plan import MOST_POINTS
from hushgrid.planning.quote import Quote, check_account
from hushgrid.planning.request_words import request_in_words, request_values
from hushgrid.privacy.exact import Exactable
from hushgrid.release.advice import epsilon_warning, noise_warning
from hushgrid.release.aim import aim_warning
from hushgrid.release.auto import AUTO
from hushgrid.release.cost import cost_warning
from hushgrid.release.delivery import Charge
from hushgrid.release.options import DEFAULTS, Options
from hushgrid.release.request import ReleaseRequest
from hushgrid.synopsis.claim import Claim
from hushgrid.text import WIDTH, labelled

NOTHING_READ = "Nothing was read and nothing was spent."
LOOKED = (
    "Rows were read, because you asked to look at them; nothing was spent. What you decide by them is not covered by "
    "the guarantee."
)
GIVE_A_SIZE = (
    "about how many points there are, from public knowledge and not counted: points_about=N (--points-about N). Then "
    "this tells the cells, errors, time and memory to expect."
)
LISTED = "a list of pairs in memory, which declares nothing"
NOT_OPENED = "the engine would have to look at rows to know its columns, which was not done"


def check(
    points: Any,
    *,
    domain: Domain,
    epsilon: Exactable,
    method: str | Method = AUTO,
    ledger: str | Path | None = None,
    dataset: str | None = None,
    new_release: bool = False,
    resume: int | None = None,
    series: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    points_about: int | None = None,
    look: bool = False,
    **options: Unpack[Options],
) -> "DryRun":
    """Say what `hushgrid.publish` would do, reading no record.

    It checks the arguments, opens the points by their schema, asks the ledger what is left, and plans the release.
    Whatever stands in the way is listed; only an unknown argument raises an error.

    Parameters
    ----------
    points, domain, epsilon, method, ledger, dataset, new_release, resume, series, **options
        As for `hushgrid.publish`.
    output : path, optional
        Where the release would be written.
    overwrite : bool
        Whether it may replace a file there.
    points_about : int, optional
        About how many points there are, from public knowledge; of users, how many records are kept. Used for the plan
        alone, where no `public_size` is declared.
    look : bool
        NOT PRIVATE, and for the steward's eyes alone: read the points, and keep the first rows and the share of rows
        in the domain as `true_look`.

    Privacy
    -------
    What is said follows from the arguments, the declared schema, the ledger and the file system: it is the same
    whatever the rows are, and however many. It tells nothing of the rows, unless `look` is asked for.

    Examples
    --------
    >>> import numpy as np
    >>> square = Domain(west=0, south=0, east=1, north=1)
    >>> found = check(np.zeros((3, 2)), domain=square, epsilon=1, user=["a", "b", "c"])
    >>> found.ok
    False
    >>> print(found.problems[0].complaint[:31])
    user needs max_per_user: how ma
    """
    return DryRun.of(
        points,
        {"domain": domain, "epsilon": epsilon, "method": method, **options},
        charge={
            "ledger": ledger,
            "dataset": dataset,
            "new_release": new_release,
            "resume": resume,
            "series": series,
        },
        output=None if output is None else Path(output),
        overwrite=overwrite,
        points_about=points_about,
        look=look,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DryRun:
    """What a release would be, and what stands in its way.

    Printing it says both.

    Parameters
    ----------
    problems : tuple of HushgridError
        What publishing would stop at, in that order.
    points : str, optional
        Path or address of the points.
    request : ReleaseRequest, optional
        What is asked for, where the arguments are right.
    schema : PointSchema, optional
        What the points are, where they could be opened.
    quote : Quote, optional
        What the ledger says.
    output : Path, optional
        Where the release would be written.
    expected : Expected, optional
        Cells, errors, time and memory, where public figures tell them.
    warnings, missing : tuple of str
        What the steward should act on, and what to give for a fuller answer.
    true_look : TrueLook, optional
        NOT PRIVATE: what was seen of the rows, where that was asked for. It is in no text and no dictionary.
    """

    problems: tuple[HushgridError, ...]
    points: str | None = None
    request: ReleaseRequest | None = None
    schema: PointSchema | None = None
    quote: Quote | None = None
    output: Path | None = None
    expected: Expected | None = None
    warnings: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    true_look: TrueLook | None = None

    @classmethod
    def of(
        cls,
        points: Any,
        arguments: Mapping[str, Any],
        *,
        charge: Mapping[str, Any],
        output: Path | None = None,
        overwrite: bool = False,
        points_about: int | None = None,
        look: bool = False,
        found: Sequence[HushgridError] = (),
    ) -> Self:
        """Try every step of a release that reads no record.

        Parameters
        ----------
        arguments, charge : mapping
            Those of `ReleaseRequest.of` and of `Charge.of`.
        found : sequence of HushgridError
            What is wrong already.
        """
        problems = _Problems(found)
        paying = problems.trying(lambda: Charge.of(**charge))
        if output is not None:
            problems.trying(lambda: check_target(output, overwrite=overwrite))
        if points_about is not None:
            problems.trying(lambda: check_whole(points_about, name="points_about", low=1, high=MOST_POINTS))
        request = _request(arguments, problems)
        quote = None
        if request is not None and paying is not None:
            quote = problems.trying(lambda: Quote.of(request, paying))
        elif paying is not None:
            problems.trying(lambda: check_account(paying))
        source = _opened(points, arguments, request, problems, may_look=look)
        ready = None if problems.errors else request
        size = points_about if request is None or request.public_size is None else request.public_size
        return cls(
            problems=tuple(problems.errors),
            points=str(points) if isinstance(points, str | os.PathLike | Address) else None,
            request=request,
            schema=PointSchema(form=LISTED) if isinstance(points, list) else schema_of(source),
            quote=quote,
            output=output,
            expected=None if ready is None else Expected.of(ready, size, source),
            warnings=() if request is None else _warnings(request, source, size),
            missing=(GIVE_A_SIZE,) if ready is not None and size is None else (),
            true_look=None if request is None or source is None or not look else TrueLook.at(source, request.domain),
        )

    @property
    def ok(self) -> bool:
        """Whether the release could be made."""
        return not self.problems

    @property
    def claim(self) -> Claim | None:
        """What the release would promise."""
        asked = self.request
        if asked is None:
            return None
        most = 1 if asked.users is None else asked.users.max_per_user
        return Claim(epsilon=asked.epsilon, unit=asked.unit, max_per_unit=most, distinct=asked.distinct)

    @property
    def ending(self) -> str:
        """The last sentence: what was read, and what was spent."""
        return NOTHING_READ if self.true_look is None else LOOKED

    def __repr__(self) -> str:
        said = self._in_words()
        said |= {f"warning {number}" if number > 1 else "warning": text for number, text in enumerate(self.warnings, 1)}
        said |= {f"to give {number}" if number > 1 else "to give": text for number, text in enumerate(self.missing, 1)}
        wrong = {f"  {number}.": str(problem) for number, problem in enumerate(self.problems, 1)}
        blame = ["", "The release cannot be made as it is asked for:", labelled(wrong)] if wrong else []
        return "\n".join([labelled(said), *blame, "", textwrap.fill(self.ending, WIDTH)])

    def _in_words(self) -> dict[str, str]:
        """The facts by label, as far as they are known."""
        said = {"points": self._points}
        if self.schema is not None and self.schema.columns:
            said["columns"] = ", ".join(f"{meaning} {name!r} ({kind})" for meaning, name, kind in self.schema.columns)
        if self.request is not None and self.claim is not None:
            said |= request_in_words(self.request, self.claim)
            said["cost"] = f"epsilon {amount(self.request.epsilon)}" if self.quote is None else str(self.quote)
        if self.expected is not None:
            said |= self.expected.in_words()
        if self.output is not None and self.ok:
            said["output"] = f"{self.output} can be written"
        return said

    @property
    def _points(self) -> str:
        name = "" if self.points is None else f"{self.points}: "
        if self.schema is not None:
            return name + self.schema.form
        return f"{name}not opened" if self.problems else name + NOT_OPENED

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON; never what was looked at."""
        asked, claim = self.request, self.claim
        columns = () if self.schema is None else self.schema.columns
        return {
            "ok": self.ok,
            "problems": [{"message": str(problem), "exit_code": problem.exit_code} for problem in self.problems],
            "points": self.points,
            "form": None if self.schema is None else self.schema.form,
            "columns": [column._asdict() for column in columns],
            "request": None if asked is None or claim is None else request_values(asked, claim),
            "ledger": None if self.quote is None else self.quote.to_dict(),
            "output": None if self.output is None else str(self.output),
            "expected": None if self.expected is None else self.expected.to_dict(),
            "warnings": list(self.warnings),
            "missing": list(self.missing),
            "ending": self.ending,
        }


class _Problems:
    """Collects errors, so that one does not hide the next."""

    def __init__(self, found: Sequence[HushgridError]) -> None:
        self.errors = list(found)

    def trying(self, step: Any) -> Any:
        """What a step gives; None where it fails."""
        try:
            return step()
        except HushgridError as error:
            self.add(error)
            return None

    def add(self, error: HushgridError) -> None:
        """Add an error, unless it is known."""
        if error.complaint not in {known.complaint for known in self.errors}:
            self.errors.append(error)


def _request(arguments: Mapping[str, Any], problems: _Problems) -> ReleaseRequest | None:
    """The request, if its arguments are right.

    What an error says to give instead is tried next, to find what else is wrong.
    """
    given, said = dict(arguments), set[str]()
    while True:
        try:
            request = ReleaseRequest.of(**given)
        except HushgridError as error:
            if error.complaint in said:
                return None
            said.add(error.complaint)
            problems.add(error)
            if not error.instead or error.instead.keys() - {"domain", "epsilon", "method", *DEFAULTS}:
                return None
            given |= error.instead
        else:
            return None if said else request


class _RowsNeededError(HushgridError):
    """Opening the points would look at rows."""


def _opened(
    points: Any,
    arguments: Mapping[str, Any],
    request: ReleaseRequest | None,
    problems: _Problems,
    *,
    may_look: bool,
) -> OpenedPoints | None:
    """The points opened by their schema, or None."""

    def refuse() -> None:
        raise _RowsNeededError

    before_rows = nothing if may_look else refuse
    names: Any = {name: arguments.get(name) for name in ("lon", "lat", "geometry")}
    domain = arguments["domain"]
    crs = arguments.get("crs") or (domain.crs if isinstance(domain, Domain) else LONGITUDE_LATITUDE)
    try:
        if isinstance(points, list) and not may_look:
            return None  # a list declares nothing, and to open it is to read it
        if request is not None:
            return request.open(points, before_rows=before_rows)
        check_column_arguments(**names)
        dialect = Dialect.of(delimiter=arguments.get("delimiter"), decimal=arguments.get("decimal"))
        user = arguments.get("user")
        return open_points(points, crs=crs, user=user, dialect=dialect, before_rows=before_rows, **names)
    except _RowsNeededError:
        return None
    except HushgridError as error:
        problems.add(error)
        return None


def _warnings(request: ReleaseRequest, source: OpenedPoints | None, size: int | None) -> tuple[str, ...]:
    """What to act on, from public figures alone."""
    cost = replace(request.cost, size=size, kind="table" if source is None else kind_of(source))
    places = 0 if size is None or request.places is None else request.places.public_partition(request.domain).cells
    against = aim_warning(request.method.name, (size or 0) * cost.epsilon, places)
    texts = (epsilon_warning(request.epsilon), noise_warning(request, size), against, cost_warning(cost))
    return tuple(text for text in texts if text is not None)
