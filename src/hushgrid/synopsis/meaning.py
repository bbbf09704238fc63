"""What the numbers of a release are numbers of, in words, for wherever one is shown."""

from fractions import Fraction

from hushgrid.inference.inferences import INFERENCES
from hushgrid.synopsis.claim import Claim, MethodRecord
from hushgrid.synopsis.synopsis import Synopsis

SIZED_BY = {
    "rows": "the noisy number of rows, paid for from the budget",
    "domain": "the noisy number of points in the domain, paid for from the budget",
}
POINTS_IN_AREAS = "Counts are of points in areas: what lies in none of them is not counted."
NOT_ELSEWHERE = "What lies in none of the areas is not counted."
SIZED_BY_KEPT = "the noisy number of kept records, paid for from the budget"


def counted(synopsis: Synopsis) -> str:
    """What is counted, as a noun: points, kept records, and so on.

    Examples
    --------
    >>> from tests.synopses import synopsis_on
    >>> from tests.plain import UNIT_SQUARE
    >>> from hushgrid.geometry.grid import Grid
    >>> counted(synopsis_on(Grid(domain=UNIT_SQUARE, rows=1, columns=1)))
    'points'
    """
    return synopsis.claim.counted if synopsis.scale is None else "records"


def covered(synopsis: Synopsis) -> str:
    """What an interval is an interval of."""
    if synopsis.claim.unit == "record":
        return "true count"
    scaled = "" if synopsis.scale is None else ", scaled alike,"
    return f"true count of {synopsis.claim.counted}{scaled}"


def caveats(synopsis: Synopsis) -> tuple[str, ...]:
    """What a reader of counts and intervals must know of a release that protects users, or that counts on areas."""
    on_areas = not synopsis.partition.tiles
    if synopsis.claim.unit == "record":
        return (POINTS_IN_AREAS,) if on_areas else ()
    about_users = _about_users(synopsis, "area" if on_areas else "cell")
    return (NOT_ELSEWHERE, *about_users) if on_areas else about_users


def _about_users(synopsis: Synopsis, cell: str) -> tuple[str, ...]:
    claim, scale, cells = synopsis.claim, synopsis.scale, f"{cell}s"
    if claim.distinct:
        each = f"each of at most {claim.max_per_unit:,} {cells}" if claim.max_per_unit > 1 else f"one {cell}"
        return (
            f"Counts are of user-area pairs: a user counts once in {each}, so that sums of {cells} count some twice.",
        )
    records = f"{claim.max_per_unit:,} records" if claim.max_per_unit > 1 else "1 record"
    kept = f"at most {records} of each user, chosen at random"
    if scale is None:
        return (f"Counts are of kept records: {kept}.",)
    total = f"a public total of {scale.total:,}"
    if scale.source == "private":
        total = f"a noisy total of {scale.total:,}, which counts at most {scale.cap:,} records of each user"
    return (
        f"Counts are of kept records ({kept}), scaled to {total}.",
        "Intervals cover neither what was lost by keeping so few records of some users nor an error of the total.",
    )


def sized_by(claim: Claim) -> str:
    """What the number of cells was found from. A noisy size is never shown."""
    size = claim.size
    if size is None:
        return "the method's parameters"
    noisy = SIZED_BY if claim.unit == "record" else dict.fromkeys(SIZED_BY, SIZED_BY_KEPT)
    return noisy.get(size.source, f"a public figure of {size.value:,} {claim.counted}")


def spent(claim: Claim) -> str:
    """Epsilon and what it was spent on."""
    totals: dict[str, list[Fraction]] = {}
    for spend in claim.spends:
        totals.setdefault(spend.purpose, []).append(spend.epsilon * claim.max_per_unit)
    spends = (
        f"{purpose} {float(sum(parts)):g}" + (f" in {len(parts)} parts" if len(parts) > 1 else "")
        for purpose, parts in totals.items()
    )
    return f"epsilon {float(claim.epsilon):g}: {', '.join(spends)}"


def how_made(method: MethodRecord) -> str:
    """What was chosen with which parameters, what was asked for, and why.

    Examples
    --------
    >>> how_made(MethodRecord(asked="ug", name="ug", parameters={"side": None, "c": 10.0}))
    'ug, c 10; asked for: ug'
    """
    return "; ".join([", ".join([method.name, *parameters(method)]), f"asked for: {method.asked}", *method.notes])


def parameters(method: MethodRecord) -> list[str]:
    """The parameters that were set, each by its name; the file has all their digits."""
    given = {name: value for name, value in method.parameters.items() if value is not None}
    return [f"{name} {f'{value:.6g}' if isinstance(value, float) else value}" for name, value in given.items()]


def sign(synopsis: Synopsis) -> str:
    """Whether estimates can be negative."""
    if INFERENCES[synopsis.inference].non_negative:
        return "none is negative"
    return "they may be negative where there is little: that is not corrected, so that sums stay right"
