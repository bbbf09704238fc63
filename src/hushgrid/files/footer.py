"""The footer of a release file: all but rows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

from hushgrid.errors import ArgumentError, SynopsisFileError
from hushgrid.files.geo import GEO, geo_metadata
from hushgrid.files.placing import parse_places, places_json, places_table
from hushgrid.files.scaling import check_all_records, parse_scale, scale_json
from hushgrid.files.strict_json import JsonObject, check_common_denominator
from hushgrid.files.structure import parse_structure, structure_json, structure_table
from hushgrid.files.tables import measurement_json, measurement_table, pack, parse_measurements
from hushgrid.geometry.domain import BOUNDS, Domain
from hushgrid.geometry.grid import CELL_LIMIT
from hushgrid.geometry.partition import Structure
from hushgrid.inference.measurements import NoisyValues, Regions, Wavelet
from hushgrid.periods import Period
from hushgrid.synopsis.answer import CONFIDENCES, SIDES, UNCALIBRATED, VERSIONS, Calibration
from hushgrid.synopsis.cells import shape_type
from hushgrid.synopsis.claim import (
    CappedTotal,
    Claim,
    LedgerMark,
    MethodRecord,
    PeriodRecord,
    PriorRecord,
    Size,
    SizeSource,
    Spend,
    Unit,
)
from hushgrid.synopsis.places import CountedPlaces
from hushgrid.synopsis.scale import Scale
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.version import __version__

SCHEMA_VERSION = 2
FIRST_SCHEMA_VERSION = 1  # of one release without a column `bbox`; read, and no longer written
HOW_TO_PUBLISH = (
    "Points become a release by: hushgrid publish POINTS --domain W,S,E,N --epsilon 1 -o RELEASE.dp.parquet"
)
# Below these, every sum and product of a release is a number that a double can hold.
HIGHEST_EPSILON = Fraction(10**280)
LARGEST_CALIBRATION = 1e100
RELEASE, STRUCTURE, MEASUREMENTS = b"hushgrid", b"hushgrid:structure", b"hushgrid:measurements"
PLACE_OUTLINES = b"hushgrid:places"
RELEASE_KEYS = ("measurements", "inference", "method", "claim", "calibration", "scale", "ledger", "prior", "period")


@dataclass(frozen=True, kw_only=True, eq=False)
class Footer:
    """A release but for what its leaves hold."""

    schema: int
    library: str
    partition: Structure
    inference: str
    regions: Regions
    region_values: NoisyValues
    wavelet: Wavelet | None
    method: MethodRecord
    claim: Claim
    calibration: Calibration
    scale: Scale | None
    ledger: LedgerMark | None
    prior: PriorRecord | None  # without its evidence, which leaves hold
    period: PeriodRecord | None
    places: CountedPlaces | None = None


def footer_metadata(synopsis: Synopsis) -> dict[bytes, bytes]:
    """Keys and values of the footer of a synopsis."""
    structure, measurements = structure_table(synopsis.partition), measurement_table(synopsis.measurements)
    release = {
        "schema": SCHEMA_VERSION,
        "library": __version__,
        "domain": vars(synopsis.partition.domain),
        "structure": structure_json(synopsis.partition),
        **release_json(synopsis),
    }
    if synopsis.places is not None:
        release["places"] = places_json(synopsis.places)
    geo = geo_metadata(synopsis.partition.domain, shape_type(synopsis.partition), covered=True)
    metadata = {GEO: json_text(geo), RELEASE: json_text(release)}
    if synopsis.places is not None:
        metadata[PLACE_OUTLINES] = places_table(synopsis.places)
    if structure is not None:
        metadata[STRUCTURE] = pack(structure)
    if measurements.num_rows:
        metadata[MEASUREMENTS] = pack(measurements)
    return metadata


def release_json(synopsis: Synopsis) -> dict[str, Any]:
    """What the footer says of one release, but for its domain and structure."""
    release = {
        "measurements": measurement_json(synopsis.measurements),
        "inference": synopsis.inference,
        "method": _method_json(synopsis.method),
        "claim": _claim_json(synopsis.claim),
        "calibration": _calibration_json(synopsis.calibration),
    }
    if synopsis.scale is not None:
        release["scale"] = scale_json(synopsis.scale)
    if synopsis.ledger is not None:
        release["ledger"] = vars(synopsis.ledger)
    if synopsis.prior is not None:
        release["prior"] = {name: value for name, value in vars(synopsis.prior).items() if name != "leaves"}
    if synopsis.period is not None:
        release["period"] = vars(synopsis.period)
    return release


def parse_footer(metadata: Mapping[bytes, bytes], *, rows: int) -> Footer:
    """The footer of a file of that many rows.

    Each part is checked before it is built.
    """
    release = opened_json(metadata)
    if release.has("slices"):
        msg = "it holds several slices, and one release is needed here. Open it with hushgrid.read(...), which gives "
        msg += 'each by its name, as slices["NAME"]; commands that can take one have --slice NAME.'
        raise SynopsisFileError(msg)
    release.only("schema", "library", "domain", "structure", "places", *RELEASE_KEYS)
    partition = parse_structure(
        release.child("structure"),
        domain=parse_domain(release.child("domain")),
        packed=metadata.get(STRUCTURE),
        rows=rows,
    )
    footer = parse_release_json(
        release,
        schema=release.whole("schema"),
        library=release.text("library"),
        partition=partition,
        packed=metadata.get(MEASUREMENTS),
    )
    if not release.has("places"):
        return footer
    outlines = metadata.get(PLACE_OUTLINES)
    places = parse_places(release.child("places"), around=partition, scale=footer.scale, packed=outlines)
    return replace(footer, places=places)


def opened_json(metadata: Mapping[bytes, bytes]) -> JsonObject:
    """The JSON of a release file, if its schema is known."""
    if RELEASE not in metadata:
        msg = f"it is not a release of hushgrid: its footer has no key 'hushgrid'. {HOW_TO_PUBLISH}"
        raise SynopsisFileError(msg)
    release = JsonObject.parse(metadata[RELEASE])
    schema = release.whole("schema")
    if schema not in (FIRST_SCHEMA_VERSION, SCHEMA_VERSION):
        msg = f"its schema is {schema}, and this hushgrid reads schema {FIRST_SCHEMA_VERSION} and {SCHEMA_VERSION}. "
        msg += "A newer hushgrid may read it: pip install --upgrade hushgrid"
        raise SynopsisFileError(msg)
    return release


def parse_release_json(
    release: JsonObject, *, schema: int, library: str, partition: Structure, packed: bytes | None
) -> Footer:
    """What `release_json` wrote of one release on a partition.

    Parameters
    ----------
    release : JsonObject
        It may have other keys, which were read before.
    packed : bytes, optional
        The measurements that are not of single leaves.
    """
    regions, region_values, wavelet = parse_measurements(
        release.child("measurements"), packed=packed, cells=partition.cells
    )
    scale = parse_scale(release.child("scale")) if release.has("scale") else None
    claim = _with_total(_parse_claim(release.child("claim")), scale)
    if scale is not None:
        check_all_records(scale, claim, tiles=partition.tiles)
    return Footer(
        schema=schema,
        library=library,
        partition=partition,
        inference=release.text("inference"),
        regions=regions,
        region_values=region_values,
        wavelet=wavelet,
        method=_parse_method(release.child("method")),
        claim=claim,
        calibration=_parse_calibration(release),
        scale=scale,
        ledger=_parse_ledger(release.child("ledger")) if release.has("ledger") else None,
        prior=_parse_prior(release.child("prior")) if release.has("prior") else None,
        period=_parse_period(release.child("period")) if release.has("period") else None,
    )


def json_text(value: dict[str, Any]) -> bytes:
    """JSON for a footer."""
    # An exact parameter, given as a Fraction or a Decimal, is kept as its text.
    return json.dumps(value, allow_nan=False, default=str, separators=(",", ":")).encode()


def parse_domain(fields: JsonObject) -> Domain:
    """The domain in a footer."""
    fields.only(*BOUNDS, "crs")
    try:
        return Domain(**{name: fields.number(name) for name in BOUNDS}, crs=fields.text("crs"))
    except ArgumentError as error:
        raise SynopsisFileError(error.complaint) from error


def _method_json(method: MethodRecord) -> dict[str, Any]:
    return {**vars(method), "parameters": dict(method.parameters)}


def _parse_method(fields: JsonObject) -> MethodRecord:
    fields.only("name", "parameters", "asked", "notes")
    return MethodRecord(
        name=fields.text("name"),
        parameters=fields.scalars("parameters"),
        asked=fields.text("asked"),
        notes=fields.texts("notes"),
    )


def _claim_json(claim: Claim) -> dict[str, Any]:
    return {
        "epsilon": str(claim.epsilon),
        "unit": claim.unit,
        "max_per_unit": claim.max_per_unit,
        "spends": [{**vars(spend), "epsilon": str(spend.epsilon)} for spend in claim.spends],
        "size": None if claim.size is None else vars(claim.size),
        "simulation": claim.simulation,
        **({"max_cells": claim.max_cells} if claim.max_cells is not None else {}),
        **({"distinct": True} if claim.distinct else {}),  # a key that older versions do not know and so refuse
        **({} if claim.total is None else {"total": vars(claim.total)}),
    }


def _parse_claim(fields: JsonObject) -> Claim:
    fields.only("epsilon", "unit", "max_per_unit", "spends", "size", "max_cells", "simulation", "distinct", "total")
    size = fields.child_or_none("size")
    epsilon = fields.rational("epsilon", high=HIGHEST_EPSILON)
    spends = tuple(map(_parse_spend, fields.children("spends")))
    check_common_denominator([epsilon, *(spend.epsilon for spend in spends)])
    return Claim(
        epsilon=epsilon,
        unit=cast("Unit", fields.text("unit", among=("record", "user"))),
        max_per_unit=fields.whole("max_per_unit", low=1, high=2**63 - 1),
        spends=spends,
        size=None if size is None else _parse_size(size),
        max_cells=fields.whole("max_cells", low=1, high=CELL_LIMIT) if fields.has("max_cells") else None,
        simulation=fields.flag("simulation"),
        distinct=fields.has("distinct") and fields.flag("distinct"),
        total=_parse_total(fields.child("total")) if fields.has("total") else None,
    )


def _calibration_json(calibration: Calibration) -> dict[str, Any]:
    factors = [factor for of_side in calibration.factors for factor in of_side]
    version = {} if calibration.version is None else {"version": calibration.version}
    return {"sides": list(SIDES), "confidences": list(CONFIDENCES), "factors": factors, **version}


def _parse_calibration(release: JsonObject) -> Calibration:
    """The calibration of a release.

    Files written before there was any have none.
    """
    if not release.has("calibration"):
        return UNCALIBRATED
    fields = release.child("calibration")
    fields.only("sides", "confidences", "factors", "version")
    sides, confidences, factors = (fields.numbers(name) for name in ("sides", "confidences", "factors"))
    fit = (sides, confidences, len(factors)) == (SIDES, CONFIDENCES, len(SIDES) * len(CONFIDENCES))
    if not fit or not all(0 < factor <= LARGEST_CALIBRATION for factor in factors):
        msg = f"its calibration must have a positive factor for each side of {SIDES} and confidence of {CONFIDENCES}."
        raise SynopsisFileError(msg)
    version = fields.whole("version") if fields.has("version") else None
    if version not in (None, *VERSIONS):
        known = " and ".join(map(str, VERSIONS))
        msg = f"its calibration is of version {version}, and this hushgrid knows versions {known}. A newer hushgrid "
        msg += "may read it: pip install --upgrade hushgrid"
        raise SynopsisFileError(msg)
    each = len(CONFIDENCES)
    by_side = tuple(factors[first : first + each] for first in range(0, len(factors), each))
    return Calibration(factors=by_side, version=version)


def _parse_spend(fields: JsonObject) -> Spend:
    fields.only("purpose", "epsilon", "measured")
    return Spend(
        purpose=fields.text("purpose"),
        epsilon=fields.rational("epsilon", high=HIGHEST_EPSILON),
        measured=fields.flag("measured"),
    )


def _parse_size(fields: JsonObject) -> Size:
    fields.only("source", "value")
    source = cast("SizeSource", fields.text("source", among=("public", "rows", "domain")))
    return Size(source=source, value=fields.whole("value"))


def _with_total(claim: Claim, scale: Scale | None) -> Claim:
    """The claim with its total.

    Early files have a private total in the scale alone.
    """
    if claim.total is not None or scale is None or scale.cap is None:
        return claim
    return replace(claim, total=CappedTotal(value=scale.total, cap=scale.cap))


def _parse_total(fields: JsonObject) -> CappedTotal:
    fields.only("value", "cap")
    value = fields.whole("value", low=-(2**63), high=2**63 - 1)
    return CappedTotal(value=value, cap=fields.whole("cap", low=1, high=2**63 - 1))


def _parse_ledger(fields: JsonObject) -> LedgerMark:
    fields.only("dataset", "entry", "head")
    entry = fields.whole("entry", low=1, high=2**63 - 1)
    return LedgerMark(dataset=fields.text("dataset"), entry=entry, head=fields.text("head"))


def _parse_prior(fields: JsonObject) -> PriorRecord:
    fields.only("name", "kind", "sha256", "licence", "nats")
    return PriorRecord(
        name=fields.text("name"),
        kind=fields.text("kind"),
        sha256=fields.sha256("sha256"),
        licence=fields.text_or_none("licence"),
        nats=fields.number("nats"),
    )


def _parse_period(fields: JsonObject) -> PeriodRecord:
    fields.only("name", "timezone")
    try:
        period = Period.parse(fields.text("name"))
    except ArgumentError as error:
        raise SynopsisFileError(error.complaint) from error
    return PeriodRecord(name=period.name, timezone=fields.text("timezone"))
