"""The facts about a release, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from hushgrid.geometry.domain import BOUNDS, Domain
from hushgrid.inference.inferences import INFERENCES
from hushgrid.synopsis.answer import ONE_NOISE, UNCALIBRATED, Answer, Calibration
from hushgrid.synopsis.claim import Claim, LedgerMark, MethodRecord, PeriodRecord, PriorRecord
from hushgrid.synopsis.kept import about_all_records
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.text import several
from hushgrid.version import __version__

BY_NOISE_ALONE = (
    "From low to high is a range by noise alone: it covers neither what was lost by keeping so few records of some "
    "users nor an error of the total."
)
BY_A_MODEL = (
    "Intervals cover the noise and, by a model, what is unknown because only some records of each user were kept for "
    "the details."
)
SIMULATION = "Simulation: the noise came from a seed. This protects nobody and is not a release."


def total_answer(synopsis: Synopsis, *, confidence: float) -> Answer:
    """The estimated total of a release, with its interval.

    Areas need no polygons for it.
    """
    if synopsis.partition.tiles:
        return synopsis.answer(synopsis.domain.bounds, confidence=confidence)
    return synopsis.districts.total_of_all(confidence)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What every reader of a release should know.

    All of it follows from released values and public arguments. Files, pages and commands show these facts, each in
    its own form.

    Examples
    --------
    >>> import hushgrid as hg
    >>> square = hg.Domain(west=0, south=0, east=1, north=1)
    >>> release = hg.publish([[0.5, 0.5]], domain=square, epsilon=1, method=hg.UniformGrid(side=2))
    >>> facts = Facts.of(release)
    >>> facts.counted, facts.cells, facts.budget
    ('points', 4, 'epsilon 1: counts 1')
    """

    claim: Claim
    method: MethodRecord
    ledger: LedgerMark | None
    domain: Domain
    cells: int
    inference: str
    protects: str  # the unit in words
    per_user: str  # the most that one user adds; empty where records are protected
    counted: str  # what the counts are counts of
    covered: str  # what an interval holds; empty where low and high are a range by noise alone
    caveats: tuple[str, ...]  # what to know before using the counts
    sign: str  # whether estimates can be negative
    width: str  # what the width of intervals was found from
    sized_by: str  # what the number of cells was found from; a noisy size is never shown
    budget: str  # epsilon, and what it was spent on
    parameters: tuple[str, ...]  # of the method, those that were set
    prior: str  # what was public before, and how far it was believed; empty where nothing was given
    period: str  # the period whose records alone are counted, and what that protects; empty where there is none
    made_with: str = f"hushgrid {__version__}"

    @classmethod
    def of(cls, synopsis: Synopsis) -> Self:
        """The facts about one release."""
        claim = synopsis.claim
        is_record = claim.unit == "record"
        return cls(
            claim=claim,
            method=synopsis.method,
            ledger=synopsis.ledger,
            domain=synopsis.domain,
            cells=synopsis.partition.cells,
            inference=synopsis.inference,
            protects="each record" if is_record else "each user, with all their records",
            per_user="" if is_record else several(claim.max_per_unit, "cell" if claim.distinct else "record"),
            counted=_counted(synopsis),
            covered=_covered(synopsis),
            caveats=_caveats(synopsis),
            sign=_sign(synopsis),
            width=_width(synopsis.calibration, "Intervals" if _covered(synopsis) else "Ranges"),
            sized_by=_sized_by(claim),
            budget=_budget(claim),
            parameters=_parameters(synopsis.method),
            prior="" if synopsis.prior is None else _prior(synopsis.prior),
            period="" if synopsis.period is None else _period(synopsis.period, claim),
        )

    @property
    def meaning(self) -> str:
        """All caveats as one text."""
        return " ".join(self.caveats)

    def after_bounds(self, confidence: float) -> str:
        """What to say after a low and a high.

        What was lost with records that were not kept is no noise, so that counts scaled to a total have no interval.
        """
        return f"with {100 * confidence:.10g} % confidence" if self.covered else "by noise alone"

    @property
    def region(self) -> str:
        """The bounds of the domain, each by its name."""
        bounds = zip(BOUNDS, self.domain.bounds, strict=True)
        return ", ".join(f"{name} {bound:.10g}" for name, bound in bounds)

    @property
    def chosen(self) -> str:
        """The method and the parameters that were set."""
        return ", ".join((self.method.name, *self.parameters))

    @property
    def how_made(self) -> str:
        """The method, what was asked for, and why."""
        return "; ".join((self.chosen, f"asked for: {self.method.asked}", *self.method.notes))

    def labelled(self) -> dict[str, str]:
        """What an exported file says of its release."""
        order = ", ".join(self.domain.axes)
        return {
            "guarantee": self.claim.sentence,
            "epsilon": str(self.claim.epsilon),
            "unit": self.claim.unit,
            "method": self.method.name,
            "counted": self.counted,
            **({"prior": self.prior} if self.prior else {}),
            **({"period": self.period} if self.period else {}),
            **({"notes": self.meaning} if self.caveats else {}),
            "coordinates": f"{order} ({self.domain.crs})",
            **({"simulation": SIMULATION} if self.claim.simulation else {}),
            "made_with": self.made_with,
        }


def _counted(synopsis: Synopsis) -> str:
    scale = synopsis.scale
    if scale is None:
        return synopsis.claim.counted
    if scale.all_records is None or scale.cap is None:
        return "records in all"
    return f"records (at most {scale.cap:,} of each user)"


def _covered(synopsis: Synopsis) -> str:
    if synopsis.claim.unit == "record":
        return "true count"
    scale = synopsis.scale
    return f"true count of {_counted(synopsis)}" if scale is None or scale.all_records is not None else ""


def caveats_of(releases: Mapping[str, Synopsis]) -> tuple[str, ...]:
    """The caveats of several releases, each once.

    A caveat that does not hold for all of them begins with the names of those that it holds for.
    """
    named: dict[str, list[str]] = {}
    for name, synopsis in releases.items():
        for caveat in _caveats(synopsis):
            named.setdefault(caveat, []).append(name)
    return tuple(
        caveat if len(names) == len(releases) else f"{', '.join(names)}: {caveat}" for caveat, names in named.items()
    )


def _caveats(synopsis: Synopsis) -> tuple[str, ...]:
    on_areas = not synopsis.partition.tiles
    on_places = () if synopsis.places is None else (_about_places(synopsis.places.areas.cells),)
    if synopsis.claim.unit == "record":
        on_cells = ("Counts are of points in areas: what lies in none of them is not counted.",) if on_areas else ()
        return (*on_places, *on_cells)
    about_users = (*on_places, *_about_users(synopsis, "area" if on_areas else "cell"))
    return ("What lies in none of the areas is not counted.", *about_users) if on_areas else about_users


def _about_places(places: int) -> str:
    counted = "One place was counted by itself" if places == 1 else f"{places:,} places were counted by themselves"
    return (
        f"{counted}: what lies in a place is counted there and nowhere else, so that places and all around them each "
        "have the whole epsilon. Cells under a place hold its count, spread evenly over it."
    )


def _about_users(synopsis: Synopsis, cell: str) -> tuple[str, ...]:
    claim, scale = synopsis.claim, synopsis.scale
    if claim.distinct:
        pairs = "Counts are of user-area pairs: a user counts once"
        if claim.max_per_unit == 1:
            return (f"{pairs}, in one {cell}.",)
        each = f"each of at most {several(claim.max_per_unit, cell)}"
        return (f"{pairs} in {each}, so sums over {cell}s count some users more than once.",)
    kept = f"at most {several(claim.max_per_unit, 'record')} of each user, chosen at random"
    share = () if synopsis.kept_share is None else (synopsis.kept_share.words,)
    if scale is None:
        return (f"Counts are of kept records, not of all: {kept}.", *share)
    if scale.all_records is not None:
        return (*about_all_records(claim, scale, scale.all_records), *share, BY_A_MODEL)
    total = f"a public total of {scale.total:,}"
    if scale.source == "private":
        total = f"a noisy total of {scale.total:,}, which counts at most {scale.cap:,} records of each user"
    return (
        f"Counts are of kept records ({kept}), scaled to {total}.",
        *share,
        BY_NOISE_ALONE,
    )


def _sign(synopsis: Synopsis) -> str:
    if INFERENCES[synopsis.inference].non_negative:
        return "none is negative"
    return "they may be negative where there is little: that is not corrected, so that sums stay right"


def _width(calibration: Calibration, bounds: str) -> str:
    if calibration == ONE_NOISE:
        return f"{bounds} are as wide as the noise in the count of one area asks"
    if calibration == UNCALIBRATED:
        return f"{bounds} are as wide as they have to be on average over data sets"
    return "Their width was found from the release, by publishing made-up points like it"


def _sized_by(claim: Claim) -> str:
    size = claim.size
    if size is None:
        return "the method's parameters"
    if size.source == "public":
        return f"a public figure of {size.value:,} {claim.counted}"
    rows = "rows" if size.source == "rows" else "points in the domain"
    return f"the noisy number of {rows if claim.unit == 'record' else 'kept records'}, paid for from the budget"


def _parameters(method: MethodRecord) -> tuple[str, ...]:
    """Parameters that were set, to six digits."""
    given = {name: value for name, value in method.parameters.items() if value is not None}
    return tuple(f"{name} {f'{value:.6g}' if isinstance(value, float) else value}" for name, value in given.items())


def _budget(claim: Claim) -> str:
    totals: dict[str, list[Fraction]] = {}
    for spend in claim.spends:
        totals.setdefault(spend.purpose, []).append(spend.epsilon * claim.max_per_unit)
    spends = (
        f"{purpose} {float(sum(parts)):g}" + (f" in {len(parts)} parts" if len(parts) > 1 else "")
        for purpose, parts in totals.items()
    )
    return f"epsilon {float(claim.epsilon):g}: {', '.join(spends)}"


def _period(period: PeriodRecord, claim: Claim) -> str:
    return (
        f"Only records of {period.words} are counted: epsilon {float(claim.epsilon):g} is what this tells about them. "
        f"Whoever has records in several {period.kind}s has to bear the sum of what each of them cost."
    )


def _prior(prior: PriorRecord) -> str:
    source = f"{prior.name} ({prior.kind}; licence: {prior.licence or 'not stated'}; SHA-256 {prior.sha256})"
    if prior.used:
        return f"{source}, believed: what was measured is likelier with it, by {prior.nats:.3g} nats"
    return f"{source}, ignored: what was measured is hardly likelier with it, by {max(prior.nats, 0.0):.3g} nats"
