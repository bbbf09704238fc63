"""A request for a release: check it, open points, publish."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self, Unpack

from hushgrid.counting.bounding import KEY_BYTES, PRIVATE, UserLevel
from hushgrid.counting.columns import Dialect, check_column_arguments
from hushgrid.counting.counter import (
    BeforeRows,
    Counter,
    EngineSource,
    OpenedPoints,
    kind_of,
    nothing,
    open_bounded_counter,
    open_counter,
)
from hushgrid.counting.filtered import within_slices
from hushgrid.counting.opening import check_place, check_reachable, open_points, projected
from hushgrid.errors import ArgumentError
from hushgrid.files.geo import check_crs_can_be_stated
from hushgrid.files.strict_json import Scalar
from hushgrid.geometry.domain import Domain
from hushgrid.ledger.request import Request
from hushgrid.methods.areas import Areas
from hushgrid.methods.method import Method, PublicPartition, public_partition, record
from hushgrid.periods import PeriodRule
from hushgrid.priors.prior import Prior
from hushgrid.privacy.bits import Bits
from hushgrid.privacy.budget import Budget
from hushgrid.privacy.draws import Draws, Journal
from hushgrid.privacy.exact import Exactable, exact_epsilon, exact_share
from hushgrid.release.aim import aimed, places_aimed_at
from hushgrid.release.all_records import (
    ALL_RECORDS_SHARE,
    check_shares,
    noisy_records,
    scale_of_total,
    total_of_records,
)
from hushgrid.release.auto import AUTO, choose
from hushgrid.release.calibrate import calibrated
from hushgrid.release.cost import Cost, cost_warning
from hushgrid.release.knowledge import can_be_sharpened, known_before, refuse_points, release_with
from hushgrid.release.options import (
    DEFAULTS,
    Options,
    check_distinct_users,
    check_estimate_of_all,
    check_max_cells,
    check_names,
    check_public_size,
    check_size_from,
    check_slice_options,
    check_sliced_cells,
)
from hushgrid.release.places import check_places, release_around
from hushgrid.slices.by import By
from hushgrid.synopsis.claim import PeriodRecord, SizeSource, Unit
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.work import current_work

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest:
    """A release as it is asked for: every argument checked, no record read.

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
    user: Any = field(repr=False)  # a column, or the ids themselves
    users: UserLevel | None
    cells: PublicPartition | None  # what is counted on, where that is public and matters before the first count
    distinct: bool
    public_size: int | None
    size_from: SizeSource
    size_share: Fraction
    max_cells: int | None
    calibrate: bool
    query: str | None = None
    by: By | None = None
    prior: Prior | None = field(default=None, compare=False)  # public, and opened already
    prior_weight: str | None = None
    prior_named: str | Path | None = field(default=None, compare=False)  # as it was given
    period: PeriodRule | None = None
    places: Areas | None = None  # that are counted by themselves
    aim_named: str | Path | None = field(default=None, compare=False)  # the file of the places, as it was given

    @classmethod
    def of(
        cls,
        *,
        domain: Domain,
        epsilon: Exactable,
        method: str | Method = AUTO,
        query: str | None = None,
        by: By | Sequence[By] | None = None,
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
        slices = None if by is None else By.of(by)
        if slices is not None:
            check_slice_options(given, slices)
        aim, places = given["aim"], places_aimed_at(given["aim"])
        if places is not None:
            check_places(places, domain, given=given, by=slices)
        chosen = aimed(choose(method), aim, domain)
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
                kept_share=given["kept_share"] and not given["distinct"] and slices is None,
                estimate=given["estimate"],
            ),
            cells=public_partition(chosen, domain),
            distinct=given["distinct"],
            public_size=check_public_size(given["public_size"]),
            size_from=check_size_from(given["size_from"]),
            size_share=exact_share(given["size_share"], name="size_share"),
            max_cells=check_max_cells(given["max_cells"]),
            calibrate=given["calibrate"],
            query=query,
            by=slices,
            prior_weight=given["prior_weight"],
            period=PeriodRule.of(given["period"], time=given["time"], timezone=given["timezone"]),
            places=places,
            aim_named=aim if places is not None and isinstance(aim, str | Path) else None,
        )
        request._check()
        prior = known_before(given["prior"], given["prior_weight"], method=chosen, domain=domain)  # last: it takes time
        return replace(request, prior=prior, prior_named=given["prior"])

    def _check(self) -> None:
        """Refuse arguments that do not go together."""
        cells = None if self.cells is None else self.cells.cells
        if self.distinct:
            check_distinct_users(self.method, self.cells, self.users)
        if self.users is not None and self.users.all_records:
            check_estimate_of_all(self.cells, distinct=self.distinct)
        if self.by is not None:
            check_sliced_cells(self.releases, cells, self.max_cells)
        check_shares(self.users, public_size=self.public_size, size_share=self.size_share)
        if self.period is not None:
            _slice_of(self.period)
        check_column_arguments(**self.columns)
        check_crs_can_be_stated(self.domain)
        check_reachable(self.crs, self.domain)
        check_place(self.crs, self.domain)

    @property
    def unit(self) -> Unit:
        """What is protected."""
        return "record" if self.users is None else "user"

    @property
    def has_total(self) -> bool:
        """Whether the total of all slices is measured, to sharpen each of them."""
        return self.by is not None and can_be_sharpened(self.method)

    @property
    def releases(self) -> int:
        """How many releases there are: one for each slice, and perhaps their total."""
        return 1 if self.by is None else len(self.by.names) + self.has_total

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
            period=self.period,
        )

    def open(self, points: Any, *, before_rows: BeforeRows = nothing) -> OpenedPoints:
        """Open points, looking at nothing but their schema.

        See `hushgrid.publish` for what they may be. With a period, records of other times are dropped row by row.

        `before_rows` is called before the first step that may look at a row, if there is one.
        """
        refuse_points(self.prior_named, points)
        refuse_points(self.aim_named, points, argument="aim")

        def check_first() -> None:
            self._check_engine()  # only engines have such steps
            before_rows()

        by = self.by if self.period is None else _slice_of(self.period)
        named = {"user": self.user, "by": by, "dialect": self.dialect, **self.columns}
        opened = open_points(points, crs=self.crs, before_rows=check_first, **named)
        if not isinstance(opened, EngineSource):
            records = opened if self.period is None else within_slices(opened)
            return projected(records, crs=self.crs, domain=self.domain)
        self._check_engine()
        return opened

    def _check_engine(self) -> None:
        """Refuse what engines cannot do."""
        if self.places is not None:
            msg = "points that an engine counts cannot be aimed at places. Give them as a file or a frame in memory, "
            msg += "or leave out aim."
            raise ArgumentError(msg)
        if self.crs != self.domain.crs:
            msg = f"points that an engine counts are not transformed, got crs={self.crs!r} for a domain in "
            msg += f"{self.domain.crs}. Transform them in the engine, or give the domain in their system."
            raise ArgumentError(msg)

    @property
    def cost(self) -> Cost:
        """What it will take, as far as the request tells."""
        granted = self.epsilon / (1 if self.users is None else self.users.max_per_user)
        if self.users is not None and self.users.all_records:
            granted *= 1 - ALL_RECORDS_SHARE
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
        if self.period is not None and isinstance(source, EngineSource):
            with source.copied() as copy:  # an engine's own counts are of all rows
                return self.release(within_slices(copy), bits=bits, journal=journal, tell=tell)
        cost = replace(self.cost, kind=kind_of(source))
        foretell(cost, tell)
        budget = self.budget(bits, Draws(journal), lambda size: foretell(replace(cost, size=size), tell))
        current_work().begin("reading")
        if self.users is None:
            with open_counter(self.domain, source) as counter:
                return self.publish_counted(counter, budget, self.prior)
        rule = self.users.rule(self.domain, key=budget.key(KEY_BYTES), cells=self.cells, distinct=self.distinct)
        with open_bounded_counter(source, rule, missing=self.users.missing_user) as bounded:
            del source  # all that is read from here on are kept records
            records, total = noisy_records(self.users, bounded, budget), None
            if records is None:
                total = total_of_records(self.users, bounded, budget)
            synopsis = self._published(bounded.counter, budget, self.prior)
        if records is not None:
            public = None if self.users.scale_to_total == PRIVATE else self.users.scale_to_total
            return self.with_intervals(records.scaled(synopsis, public))
        if self.distinct:
            return replace(synopsis, claim=replace(synopsis.claim, distinct=True))
        if total is not None and self.users.scale_to_total is not None:
            synopsis = synopsis.scaled(scale_of_total(self.users, total, synopsis))
        return self.with_intervals(synopsis)

    def publish_counted(self, counter: Counter, budget: Budget, prior: Prior | None) -> Synopsis:
        """Publish what a counter counts, within a budget."""
        synopsis = self._published(counter, budget, prior)
        return self.with_intervals(synopsis)

    def _published(self, counter: Counter, budget: Budget, prior: Prior | None) -> Synopsis:
        """The release, with its places or its prior, and its period."""
        if self.places is not None:
            synopsis = release_around(self.method, self.places, counter, budget)
        else:
            synopsis = release_with(prior, self.method, counter, budget)
        if self.period is None:
            return synopsis
        return replace(synopsis, period=PeriodRecord(name=self.period.period.name, timezone=self.period.timezone))

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
            if self.users.all_records:
                settings["estimate"] = "all-records"
        aim = None if self.places is None else self.places.sha256
        given = {"max_cells": self.max_cells, "query": self.query, "aim": aim}
        settings |= {name: value for name, value in given.items() if value is not None}
        if self.by is not None:
            settings["by"] = json.dumps(self.by.to_dict(), sort_keys=True)
        if self.prior is not None:
            settings["prior"] = self.prior.sha256
            if self.prior_weight is not None:
                settings["prior_weight"] = self.prior_weight
        return settings

    def budget(self, bits: Bits, draws: Draws, tell_size: Callable[[int], None] | None = None) -> Budget:
        """The budget that is asked for, unspent.

        `draws` keeps the random values of the whole release, which may have several budgets.
        """
        return Budget(
            self.epsilon,
            bits=bits,
            unit=self.unit,
            max_per_unit=1 if self.users is None else self.users.max_per_user,
            public_size=self.public_size,
            size_from=self.size_from,
            size_share=self.size_share,
            max_cells=self.max_cells,
            draws=draws,
            tell_size=tell_size,
        )

    def with_intervals(self, synopsis: Synopsis) -> Synopsis:
        """A release with calibrated intervals, where asked; areas need none."""
        if not (self.calibrate and synopsis.partition.tiles):
            return synopsis
        current_work().begin("intervals")
        return calibrated(synopsis, self.method)


def _slice_of(rule: PeriodRule) -> By:
    """A period as the one slice of time that is read."""
    period = rule.period
    return By.time(rule.time, period.kind, timezone=rule.timezone, start=period.start, end=period.stop)


def foretell(cost: Cost, tell: Tell | None) -> None:
    """Plan the work by its cost, and say so if that is much."""
    current_work().weigh(cost.steps)
    text = cost_warning(cost)
    if tell is not None and text is not None:
        tell(text)
