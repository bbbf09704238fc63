"""The scale of a release in its file."""

from typing import Any, cast

from hushgrid.errors import SynopsisFileError
from hushgrid.files.strict_json import JsonObject
from hushgrid.synopsis.all_records import BLOCKS, REGION_SIDE, AllRecords, bin_starts
from hushgrid.synopsis.claim import Claim
from hushgrid.synopsis.scale import Scale, ScaleSource

LARGEST_FACTOR = 1e30  # of a scale, far beyond any that a total and counts of 64 bits ask for
LARGEST_VARIANCE = 1e60  # of a count, for each record in it
LOWEST, HIGHEST = -(2**63), 2**63 - 1


def scale_json(scale: Scale) -> dict[str, Any]:
    """The scale as JSON.

    The key for all records is there only where they were estimated, since older versions do not know it.
    """
    known = {} if scale.all_records is None else {"all_records": vars(scale.all_records)}
    return {name: value for name, value in vars(scale).items() if name != "all_records"} | known


def parse_scale(fields: JsonObject) -> Scale:
    """The scale of a release, each number in reasonable bounds."""
    fields.only("source", "total", "cap", "factor", "all_records")
    source = cast("ScaleSource", fields.text("source", among=("public", "private")))
    cap = fields.whole("cap", low=1, high=HIGHEST) if source == "private" else None
    return Scale(
        source=source,
        total=fields.whole("total", low=LOWEST, high=HIGHEST),
        cap=cap,
        factor=_bounded(fields, "factor", low=1 / LARGEST_FACTOR, high=LARGEST_FACTOR),
        all_records=_parse_all_records(fields.child("all_records")) if fields.has("all_records") else None,
    )


def check_all_records(scale: Scale, claim: Claim, *, tiles: bool) -> None:
    """Refuse what is known of all records if it cannot belong to the release."""
    known = scale.all_records
    if known is None:
        return
    if claim.total is None or claim.unit != "user" or claim.distinct or not tiles:
        msg = "its scale is to all records, which only cells of kept records with a noisy total have."
        raise SynopsisFileError(msg)
    if len(known.users) != len(bin_starts(claim.max_per_unit)):
        msg = f"scale.all_records.users must have {len(bin_starts(claim.max_per_unit))} numbers."
        raise SynopsisFileError(msg)


def _parse_all_records(fields: JsonObject) -> AllRecords:
    fields.only("users", "regions", "ratios", "uneven", "regional", "region_sizes", "total_error")
    regions, ratios = fields.wholes("regions", low=LOWEST, high=HIGHEST), fields.numbers("ratios")
    if not len(regions) == len(ratios) == REGION_SIDE**2:
        msg = f"scale.all_records must have {REGION_SIDE**2} regions and as many ratios."
        raise SynopsisFileError(msg)
    if not all(1 / LARGEST_FACTOR <= ratio <= LARGEST_FACTOR for ratio in ratios):
        msg = "scale.all_records.ratios must be positive numbers of reasonable size."
        raise SynopsisFileError(msg)
    return AllRecords(
        users=fields.wholes("users", low=LOWEST, high=HIGHEST),
        regions=regions,
        ratios=ratios,
        uneven=_bounded(fields, "uneven", low=0, high=LARGEST_VARIANCE),
        regional=_of_blocks(fields, "regional", low=0),
        region_sizes=_of_blocks(fields, "region_sizes", low=1),
        total_error=_bounded(fields, "total_error", low=0, high=LARGEST_FACTOR),
    )


def _of_blocks(fields: JsonObject, name: str, *, low: float) -> tuple[float, ...]:
    values = fields.numbers(name)
    if len(values) != len(BLOCKS) or not all(low <= value <= LARGEST_VARIANCE for value in values):
        msg = f"scale.all_records.{name} must be {len(BLOCKS)} numbers between {low:g} and {LARGEST_VARIANCE:g}."
        raise SynopsisFileError(msg)
    return values


def _bounded(fields: JsonObject, name: str, *, low: float, high: float) -> float:
    value = fields.number(name)
    if not low <= value <= high:
        msg = f"scale.{name} must be a positive number, between {low:g} and {high:g}."
        raise SynopsisFileError(msg)
    return value
