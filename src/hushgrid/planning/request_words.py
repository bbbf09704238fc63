"""What a request asks for, in words and as values."""

from typing import Any

from hushgrid.counting.bounding import UserLevel
from hushgrid.geometry.domain import BOUNDS
from hushgrid.periods import PeriodRule
from hushgrid.priors.prior import Prior
from hushgrid.release.all_records import ALL_RECORDS_SHARE
from hushgrid.release.places import note_of
from hushgrid.release.request import ReleaseRequest
from hushgrid.synopsis.claim import Claim


def request_in_words(request: ReleaseRequest, claim: Claim) -> dict[str, str]:
    """What is asked for, a sentence or two for each part of it."""
    domain = request.domain
    bounds = ", ".join(f"{name} {bound:.10g}" for name, bound in zip(BOUNDS, domain.bounds, strict=True))
    protects = "each record by itself. Where a person can have several, protect users: user= and max_per_user= "
    protects += "(--user-column, --max-per-user)"
    if request.users is not None:
        most, what = request.users.max_per_user, "areas or cells" if request.distinct else "records"
        protects = f"each user with all their records, of which at most {most:,} {what} count, chosen at random"
        if request.users.all_records:
            protects += f"; {_all_records_in_words(request.users)}"
    return {
        "system": f"the points are taken to be in {request.crs}, the domain is in {domain.crs}",
        "domain": bounds,
        "protects": protects,
        "guarantee": claim.sentence,
        **({} if request.period is None else {"period": _period_in_words(request.period)}),
        "method": request.method.name,
        **({} if request.places is None else {"aim": note_of(len(request.places.names or ()))}),
        **({} if request.by is None else {"slices": f"{len(request.by.names):,}. {request.by.words()}"}),
        **({} if request.prior is None else {"prior": _prior_in_words(request.prior)}),
    }


def _period_in_words(rule: PeriodRule) -> str:
    return (
        f"only records of {rule.period.name} count, told by the column {rule.time!r} in the time zone {rule.timezone}; "
        f"whoever has records in several {rule.period.kind}s has to bear the sum of what each costs"
    )


def _prior_in_words(prior: Prior) -> str:
    licence = "" if prior.licence is None else f", {prior.licence}"
    source = f"{prior.name} ({prior.kind}{licence}; SHA-256 {prior.sha256[:12]}…)"
    return f"{source}, declared public; it costs nothing. Errors are foreseen without it"


def _all_records_in_words(users: UserLevel) -> str:
    """What an estimate of all records counts, and what it costs."""
    cap = users.max_for_total
    if isinstance(users.scale_to_total, int):
        counted = f"all {users.scale_to_total:,} records"
    else:
        counted = f"at most {cap:,} records of each" if cap is not None else "as many records of each as noise allows"
    return f"counts are of {counted}, corrected by regions for {100 * ALL_RECORDS_SHARE} % of the budget"


def request_values(request: ReleaseRequest, claim: Claim) -> dict[str, Any]:
    """The same as plain values."""
    domain = request.domain
    bounds = dict(zip(BOUNDS, domain.bounds, strict=True))
    return {
        "domain": {**bounds, "crs": domain.crs},
        "crs": request.crs,
        "epsilon": float(request.epsilon),
        "exact_epsilon": str(request.epsilon),
        "unit": claim.unit,
        "max_per_unit": claim.max_per_unit,
        **({"estimate": "all-records"} if request.users is not None and request.users.all_records else {}),
        "guarantee": claim.sentence,
        "method": request.method.name,
        **({} if request.by is None else {"by": request.by.to_dict(), "slices": len(request.by.names)}),
        "period": None if request.period is None else _period_values(request.period),
        "prior": None if request.prior is None else _prior_values(request.prior),
    }


def _period_values(rule: PeriodRule) -> dict[str, str]:
    return {"name": rule.period.name, "time": rule.time, "timezone": rule.timezone}


def _prior_values(prior: Prior) -> dict[str, str | None]:
    return {"name": prior.name, "kind": prior.kind, "sha256": prior.sha256, "licence": prior.licence}
