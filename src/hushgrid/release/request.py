"""A request for a release: check it, open points, publish."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Self, Unpack

from hushgrid.counting.bounding import KEY_BYTES, PRIVATE, UserLevel
from hushgrid.counting.columns import Dialect, check_column_arguments
from hushgrid.counting.counter import (
    BeforeRows,
    BoundedCounter,
    EngineSource,
    OpenedPoints,
    kind_of,
    nothing,
    open_bounded_counter,
    open_counter,
)
from hushgrid.counting.opening import check_place, check_reachable, open_points, projected
from hushgrid.errors import ArgumentError
from hushgrid.files.footer import check_crs_can_be_stated
from hushgrid.files.strict_json import Scalar
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.ledger.request import Request
from hushgrid.methods.method import Method, PublicPartition, public_partition, record
from hushgrid.privacy.bits import Bits
from hushgrid.privacy.budget import KEPT_SHARE, SIZE_SHARE, TOTAL_SHARE, Budget
from hushgrid.privacy.draws import Journal
from hushgrid.privacy.exact import Exactable, exact_epsilon, exact_share
from hushgrid.release.auto import AUTO, choose
from hushgrid.release.calibrate import calibrated
from hushgrid.release.cost import Cost, cost_warning
from hushgrid.release.options import DEFAULTS, Options, check_max_cells, check_names, check_public_size, check_size_from
from hushgrid.synopsis.claim import SizeSource, Unit
from hushgrid.synopsis.scale import Scale
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.work import current_work

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest:
    """A release as it is asked for: every argument checked, nothing read.

    Make one with `ReleaseRequest.of`, which takes the arguments of `hushgrid.publish`.

    Examples
    --------
    >>> domain = Domain(west=0, south=0, east=1, north=1)
    >>> request = ReleaseRequest.of(domain=domain, epsilon="0.5", method="ug", lon="x", lat="y")
    >>> request.for_ledger("trips").columns
    ('x', 'y')
    """

    domain: Domain
    epsilon: Fraction
    method: Method
    columns: Mapping[str, str | None]
    crs: str
    dialect: Dialect
    user: Any
    users: UserLevel | None
    cells: PublicPartition | None  # what is counted on, where that is public and matters before the first count
    distinct: bool
    public_size: int | None
    size_from: SizeSource
    size_share: Fraction
    max_cells: int | None
    calibrate: bool
    query: str | None = None

    @classmethod
    def of(
        cls,
        *,
        domain: Domain,
        epsilon: Exactable,
        method: str | Method = AUTO,
        query: str | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Check the arguments of `hushgrid.publish`.

        `query` is the SELECT that chooses the rows, if there is one: a ledger tells requests apart by it.
        """
        if not isinstance(domain, Domain):
            msg = f"domain must be a hushgrid.Domain(west=, south=, east=, north=), got {type(domain).__name__}."
            raise ArgumentError(msg)
        check_names(options)
        given = DEFAULTS | options
        chosen = choose(method)
        request = cls(
            domain=domain,
            epsilon=exact_epsilon(epsilon),
            method=chosen,
            columns={name: given[name] for name in ("lon", "lat", "geometry")},
            crs=domain.crs if given["crs"] is None else given["crs"],
            dialect=Dialect.of(delimiter=given["delimiter"], decimal=given["decimal"]),
            user=given["user"],
            users=UserLevel.of(
                given["user"],
                max_per_user=given["max_per_user"],
                missing_user=given["missing_user"],
                scale_to_total=given["scale_to_total"],
                max_for_total=given["max_for_total"],
                kept_share=given["kept_share"] and not given["distinct"],
            ),
            cells=public_partition(chosen, domain),
            distinct=given["distinct"],
            public_size=check_public_size(given["public_size"]),
            size_from=check_size_from(given["size_from"]),
            size_share=exact_share(given["size_share"], name="size_share"),
            max_cells=check_max_cells(given["max_cells"]),
            calibrate=given["calibrate"],
            query=query,
        )
        if request.distinct:
            _check_distinct(request)
        _check_shares(request)
        check_column_arguments(**request.columns)
        check_crs_can_be_stated(domain)
        check_reachable(request.crs, domain)
        check_place(request.crs, domain)
        return request

    @property
    def unit(self) -> Unit:
        """What is protected."""
        return "record" if self.users is None else "user"

    def for_ledger(self, dataset: str) -> Request:
        """What a ledger is asked for.

        It has every argument that shapes the release, and nothing of the points.
        """
        return Request(
            dataset=dataset,
            unit=self.unit,
            epsilon=self.epsilon,
            domain=self.domain,
            method=self.method.name,
            parameters={**record(self.method).parameters, **self._settings},
            columns=tuple(name for name in self.columns.values() if name is not None),
            user_column=self.user if isinstance(self.user, str) else None,
            max_per_user=None if self.users is None else self.users.max_per_user,
            public_size=self.public_size,
        )

    def open(self, points: Any, *, before_rows: BeforeRows = nothing) -> OpenedPoints:
        """Open points, looking at nothing but their schema.

        See `hushgrid.publish` for what they may be.

        `before_rows` is called before the first step that may look at a row, if there is one.
        """

        def check_first() -> None:
            self._check_engine()  # only engines have such steps
            before_rows()

        named = {"user": self.user, "dialect": self.dialect, **self.columns}
        opened = open_points(points, crs=self.crs, before_rows=check_first, **named)
        if not isinstance(opened, EngineSource):
            return projected(opened, crs=self.crs, domain=self.domain)
        self._check_engine()
        return opened

    def _check_engine(self) -> None:
        """Refuse what engines cannot do."""
        if self.crs != self.domain.crs:
            msg = f"points that an engine counts are not transformed, got crs={self.crs!r} for a domain in "
            msg += f"{self.domain.crs}. Transform them in the engine, or give the domain in their system."
            raise ArgumentError(msg)

    @property
    def cost(self) -> Cost:
        """What it will take, as far as the request tells."""
        granted = self.epsilon / (1 if self.users is None else self.users.max_per_user)
        return Cost(
            method=self.method,
            epsilon=float(granted if self.public_size is not None else granted * (1 - self.size_share)),
            size=self.public_size,
            cells=None if self.cells is None else self.cells.cells,
            max_cells=self.max_cells,
            users=self.users is not None,
            size_from=self.size_from if self.public_size is None else "public",
            calibrate=self.calibrate and not self.distinct and (self.cells is None or self.cells.tiles),
        )

    def release(
        self, source: OpenedPoints, *, bits: Bits, journal: Journal | None = None, tell: Tell | None = None
    ) -> Synopsis:
        """Read the points and publish them.

        Parameters
        ----------
        source : OpenedPoints
            As `open` gave them.
        bits : Bits
            Where the noise comes from.
        journal : Journal, optional
            Keeps everything that is drawn, so that a run that was cut off can go on.
        tell : callable, optional
            Told what the release is about to take, as soon as that is known, if it is much.

        Privacy
        -------
        See `hushgrid.publish`.
        """
        cost = replace(self.cost, kind=kind_of(source))
        foretell(cost, tell)
        budget = self._budget(bits, journal, lambda size: foretell(replace(cost, size=size), tell))
        current_work().begin("reading")
        if self.users is None:
            with open_counter(self.domain, source) as counter:
                synopsis = self.method.release(counter, budget)
            return self._calibrated(synopsis)
        rule = self.users.rule(self.domain, key=budget.key(KEY_BYTES), cells=self.cells, distinct=self.distinct)
        with open_bounded_counter(source, rule, missing=self.users.missing_user) as bounded:
            del source  # all that is read from here on are kept records
            total = _total(self.users, bounded, budget)
            synopsis = self.method.release(bounded.counter, budget)
        if self.distinct:
            return replace(synopsis, claim=replace(synopsis.claim, distinct=True))
        if total is not None and self.users.scale_to_total is not None:
            synopsis = synopsis.scaled(_scale(self.users, total, synopsis))
        return self._calibrated(synopsis)

    @property
    def _settings(self) -> dict[str, Scalar]:
        settings: dict[str, Scalar] = {
            "size_from": self.size_from,
            "size_share": str(self.size_share),
            "calibrate": self.calibrate,
            "distinct": self.distinct,
        }
        if self.crs != self.domain.crs:
            settings["crs"] = self.crs
        settings |= {name: sign for name, sign in asdict(self.dialect).items() if sign is not None}
        if self.users is not None:
            settings["missing_user"] = self.users.missing_user
            settings["scale_to_total"] = self.users.scale_to_total
            settings["max_for_total"] = self.users.max_for_total
            if self.users.kept_share:
                settings["kept_share"] = True
        if self.max_cells is not None:
            settings["max_cells"] = self.max_cells
        if self.query is not None:
            settings["query"] = self.query
        return settings

    def _budget(self, bits: Bits, journal: Journal | None, tell_size: Callable[[int], None]) -> Budget:
        return Budget(
            self.epsilon,
            bits=bits,
            unit=self.unit,
            max_per_unit=1 if self.users is None else self.users.max_per_user,
            public_size=self.public_size,
            size_from=self.size_from,
            size_share=self.size_share,
            max_cells=self.max_cells,
            journal=journal,
            tell_size=tell_size,
        )

    def _calibrated(self, synopsis: Synopsis) -> Synopsis:
        # What areas are asked is mostly how many points are in each: there, the law of the noise says it all.
        if not (self.calibrate and synopsis.partition.tiles):
            return synopsis
        current_work().begin("intervals")
        return calibrated(synopsis, self.method)


def foretell(cost: Cost, tell: Tell | None) -> None:
    """Plan the work by what it will take, and say so if that is much."""
    current_work().weigh(cost.steps)
    text = cost_warning(cost)
    if tell is not None and text is not None:
        tell(text)


def _total(users: UserLevel, bounded: BoundedCounter, budget: Budget) -> int | None:
    """The number of all records: declared, or noisy and paid for."""
    if users.scale_to_total != PRIVATE and not users.kept_share:
        return users.scale_to_total
    return budget.noisy_total(bounded.true_capped_total, cap=users.max_for_total, share=_total_share(users))


def _total_share(users: UserLevel) -> Fraction:
    """Share of the budget for the number of all records."""
    if users.scale_to_total == PRIVATE:
        return TOTAL_SHARE
    return KEPT_SHARE if users.kept_share else Fraction(0)


def _scale(users: UserLevel, total: int, synopsis: Synopsis) -> Scale:
    if users.scale_to_total == PRIVATE:
        return Scale.to(total, synopsis.counts, source="private", cap=users.max_for_total)
    return Scale.to(total, synopsis.counts, source="public")


def _check_shares(request: ReleaseRequest) -> None:
    """Refuse shares that leave nothing for counts, before anything is read."""
    total = Fraction(0) if request.users is None else _total_share(request.users)
    if request.public_size is None and total + request.size_share >= 1:
        msg = f"size_share={request.size_share} leaves nothing for counts beside {total} for the number of all records."
        raise ArgumentError(msg, instead={"size_share": str(SIZE_SHARE)})


def _check_distinct(request: ReleaseRequest) -> None:
    """Refuse to count distinct users without public cells.

    Which cells a user is counted in must be decided before the first count.
    """
    if request.users is None:
        msg = "distinct counts users, so that it needs user and max_per_user."
        raise ArgumentError(msg)
    if request.users.scale_to_total is not None:
        msg = "distinct counts users in cells, which sum to no total of records. Leave scale_to_total out."
        raise ArgumentError(msg)
    if request.cells is None:
        msg = "distinct needs a public grid, method=hg.UniformGrid(side=...), or areas, method=hg.Areas(polygons): "
        msg += "which cells of a user are counted is decided before any count is released. Got method "
        msg += f"{request.method.name!r}."
        raise ArgumentError(msg)
    if isinstance(request.cells, AreaPartition) and request.cells.levels:
        msg = "distinct users are counted on one level of areas: somebody in two parts of an area would count twice in "
        msg += "it. Leave the levels out, and publish each level by itself if several are needed."
        raise ArgumentError(msg)
