"""The server's addresses and answers, in OpenAPI 3.1."""

from collections.abc import Iterable
from typing import Any

from hushgrid.geometry.domain import BOUNDS
from hushgrid.version import __version__
from hushgrid.web.questions import (
    CONFIDENCE,
    HIGHEST_CONFIDENCE,
    LARGEST_BATCH,
    LARGEST_BODY,
    LARGEST_GEOJSON,
    LARGEST_PAGE,
    LONGEST_QUERY,
    LOWEST_CONFIDENCE,
    MOST_OF_ONE,
    MOST_VERTICES,
    USUAL_PAGE,
)

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
AMOUNT: Schema = {"type": "number", "minimum": 0}
WHOLE: Schema = {"type": "integer", "minimum": 0}
MAYBE: Schema = {"type": ["number", "null"]}
NAMED: Schema = {"type": ["string", "null"]}
TRUTH: Schema = {"type": "boolean"}
CONFIDENCE_SCHEMA: Schema = {
    "type": "number",
    "minimum": LOWEST_CONFIDENCE,
    "maximum": HIGHEST_CONFIDENCE,
    "default": CONFIDENCE,
}


def reference(name: str) -> dict[str, str]:
    """A schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def _listed(items: Schema, **limits: int) -> Schema:
    return {"type": "array", "items": items, **limits}


def _record(properties: dict[str, Schema], *, optional: tuple[str, ...] = ()) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _either(*names: str) -> Schema:
    return {"anyOf": [reference(name) for name in names]}


def _with(text: str, schema: Schema) -> Schema:
    return {**schema, "description": text}


EDGES = dict.fromkeys(BOUNDS, NUMBER)
RECT_TYPE = _with("West, south, east, north.", _listed(NUMBER, minItems=4, maxItems=4))
MEANING = {
    "release": _with("Name of the release.", TEXT),
    "simulation": _with("Whether the noise came from a seed: such a release protects nobody.", TRUTH),
    "counted": _with("What the numbers are counts of.", TEXT),
    "caveats": _with("What a reader of the numbers must know.", _listed(TEXT)),
}
ESTIMATE = {
    "estimate": _with("Never clipped, so that disjoint areas add up: noise can take it below 0.", NUMBER),
    "low": AMOUNT,
    "high": AMOUNT,
    "usable": _with("Whether the interval is at most as wide as the estimate.", TRUTH),
}
FULL_ANSWER = {
    **ESTIMATE,
    "noise_std": _with("Standard deviation by noise.", AMOUNT),
    "spread_std": _with("Standard deviation by points not lying evenly in cells that are cut.", AMOUNT),
}
SLICES = {"slices": _with("Of a release in slices: those that the numbers are of.", _listed(TEXT))}
BY_SLICE = {"by_slice": _with("What is known of each slice, where each was asked.", _listed(reference("SliceAnswer")))}
OVER_TIME = {
    **EDGES,
    **{
        name: _with("One a period, null where it has no release.", _listed(MAYBE))
        for name in ("estimate", "low", "high")
    },
    "usable": _listed({"type": ["boolean", "null"]}),
}
SERIES_MEANING = {
    "periods": _with("In order, those without a release too.", _listed(TEXT)),
    **{name: MEANING[name] for name in ("simulation", "counted", "caveats")},
    "guarantee": _with("The claim of the last release, in one sentence.", TEXT),
    "everyone": _with("What somebody present in all releases has to bear, in one sentence.", TEXT),
    "epsilon_of_all": _with("The sum of what all releases cost.", AMOUNT),
    "confidence": NUMBER,
}
SERIES_SCHEMAS: dict[str, Schema] = {
    "SeriesPlaces": _record(
        {
            **SERIES_MEANING,
            "levels": _listed(_record({"level": TEXT, "places": _listed(_record({"name": NAMED, **OVER_TIME}))})),
        }
    ),
    "SeriesAnswers": _record({**SERIES_MEANING, "answers": _listed(_record(OVER_TIME))}),
}
SCHEMAS: dict[str, Schema] = {
    "Error": _record({"error": _with("What is wrong, and what would work.", TEXT)}),
    "Health": _record({"status": {"type": "string", "enum": ["ok"]}}),
    "Description": {"type": "object", "required": ["openapi", "info", "paths", "components"]},
    "Releases": _record({"releases": _listed(reference("Release"))}),
    "Release": _record(
        {
            **MEANING,
            "title": TEXT,
            "guarantee": _with("The claim in one sentence.", TEXT),
            "epsilon": AMOUNT,
            "unit": {"type": "string", "enum": ["record", "user"]},
            "method": TEXT,
            "cells": WHOLE,
            "levels": _with("Levels of named areas, the coarsest first; none where it has cells.", _listed(TEXT)),
            "slices": _with("Names of its slices, in order; none where it is one release.", _listed(TEXT)),
            "sliced": _with("What its slices are, in one sentence.", {"type": ["string", "null"]}),
            "domain": _record({**EDGES, "crs": TEXT}),
        }
    ),
    "Question": _record(
        {
            "rects": _listed(RECT_TYPE, maxItems=LARGEST_BATCH),
            "confidence": CONFIDENCE_SCHEMA,
            "slices": _with("Slices to add up; all of them if none is named.", _listed(TEXT)),
            "each": _with("Whether every slice has an answer of its own.", TRUTH),
        },
        optional=("confidence", "slices", "each"),
    ),
    "Answers": _record(
        {**MEANING, **SLICES, "confidence": NUMBER, "answers": _listed(_either("Answer", "SlicedAnswer"))},
        optional=("slices",),
    ),
    "Answer": _record({**EDGES, **FULL_ANSWER}),
    "SlicedAnswer": _record({**EDGES, **BY_SLICE}),
    "SliceAnswer": _record({"slice": TEXT, **FULL_ANSWER}, optional=("noise_std", "spread_std")),
    "Cells": _record(
        {
            **MEANING,
            **SLICES,
            "total": _with("Cells of the release, or of the slice.", WHOLE),
            "first": _with("Number of the first cell here.", WHOLE),
            "cells": _listed(reference("Cell")),
            "next": _with("Address of the next cells, relative to this one.", {"type": ["string", "null"]}),
        },
        optional=("slices",),
    ),
    "Areas": _record(
        {
            **MEANING,
            **SLICES,
            "level": _with("What these areas are.", TEXT),
            "levels": _with("All levels, the coarsest first.", _listed(TEXT)),
            "confidence": NUMBER,
            "total": _with("Areas of this level.", WHOLE),
            "first": _with("Number of the first area here.", WHOLE),
            "areas": _listed(_either("Area", "SlicedArea")),
            "next": _with("Address of the next areas, relative to this one.", {"type": ["string", "null"]}),
        },
        optional=("slices",),
    ),
    "Area": _record({"name": TEXT, **ESTIMATE}),
    "SlicedArea": _record({"name": TEXT, **BY_SLICE}),
    "Features": {
        "type": "object",
        "properties": {
            **MEANING,
            **SLICES,
            "type": {"type": "string", "enum": ["FeatureCollection"]},
            "confidence": NUMBER,
            "features": _listed(reference("CountedFeature")),
        },
        "required": ["type", *MEANING, "confidence", "features"],
    },
    "CountedFeature": {
        "type": "object",
        "description": "A feature as it was given, with the answer among its properties.",
        "properties": {
            "type": {"type": "string", "enum": ["Feature"]},
            "properties": _either("CountedProperties", "SlicedProperties"),
            "geometry": {"type": ["object", "null"]},
        },
        "required": ["type", "properties", "geometry"],
    },
    "CountedProperties": {"type": "object", "properties": FULL_ANSWER, "required": list(FULL_ANSWER)},
    "SlicedProperties": {"type": "object", "properties": BY_SLICE, "required": list(BY_SLICE)},
    "Polygons": {
        "type": "object",
        "description": "A FeatureCollection, Feature, Polygon or MultiPolygon, in longitude and latitude (RFC 7946).",
        "required": ["type"],
    },
    "Cell": _record({**EDGES, "count": NUMBER, "std_error": _with("Standard deviation by noise.", AMOUNT)}),
}


REASONS = {
    "400": "The question is malformed.",
    "404": "There is no such release, or it has no named areas.",
    "413": f"More than {LARGEST_BATCH:,} rectangles, or a body of more than {LARGEST_BODY:,} bytes; for polygons, more "
    f"than {LARGEST_BATCH:,} features, {MOST_VERTICES:,} vertices or {MOST_OF_ONE:,} of one feature, or more than "
    f"{LARGEST_GEOJSON:,} bytes. Rectangles, features and vertices are counted once for every slice that is asked.",
    "414": f"The address has more than {LONGEST_QUERY:,} characters behind its question mark.",
}
RECT = {
    "name": "rect",
    "in": "query",
    "required": True,
    "description": "West, south, east and north of a rectangle, separated by commas. Repeatable.",
    "schema": {"type": "array", "minItems": 1, "maxItems": LARGEST_BATCH, "items": {"type": "string"}},
    "style": "form",
    "explode": True,
    "example": ["-74,40.7,-73.9,40.8"],
}


ASKED_CONFIDENCE = {
    "name": "confidence",
    "in": "query",
    "description": "Of the intervals.",
    "schema": CONFIDENCE_SCHEMA,
}


SLICES_ASKED = [
    {
        "name": "slice",
        "in": "query",
        "description": "Slices to add up, of a release in slices; all of them if none is named. Repeatable.",
        "schema": {"type": "array", "items": TEXT, "default": []},
        "style": "form",
        "explode": True,
    },
    {
        "name": "each",
        "in": "query",
        "description": "Whether every slice has an answer of its own.",
        "schema": {**TRUTH, "default": False},
    },
]


def description(names: Iterable[str], *, series: bool = False) -> dict[str, Any]:
    """The description of a server for these releases, and for what they are together."""
    name = {
        "name": "name",
        "in": "path",
        "required": True,
        "description": "Name of a release.",
        "schema": {"type": "string", "enum": list(names)},
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hushgrid",
            "version": __version__,
            "description": "Counts of points in rectangles, polygons and named areas, from releases under differential "
            "privacy. Asking costs no privacy. Every number is an estimate with noise.",
        },
        "paths": {
            "/": {"get": _operation("start", "Leads to the page of the first release.", _lead())},
            "/{name}": {"parameters": [name], "get": _operation("toPage", "Leads to the page.", _lead(), "404")},
            "/{name}/": {"parameters": [name], "get": _operation("page", "Map of a release.", _page(), "404")},
            "/v1/": {"get": _operation("releases", "What each release is and promises.", _json("Releases"))},
            "/v1/{name}/count": {"parameters": [name], "get": _count(), "post": _count_batch()},
            "/v1/{name}/cells": {"parameters": [name], "get": _cells()},
            "/v1/{name}/areas": {"parameters": [name], "get": _areas()},
            "/v1/{name}/polygons": {"parameters": [name], "post": _polygons()},
            **(_series() if series else {}),
            "/openapi.json": {"get": _operation("openapi", "This description.", _json("Description"))},
            "/healthz": {"get": _operation("healthz", "Whether the server answers.", _json("Health"))},
        },
        "components": {"schemas": {**SCHEMAS, **(SERIES_SCHEMAS if series else {})}},
    }


def _series() -> dict[str, Any]:
    answers = _json("SeriesAnswers")
    asked = _operation("seriesCount", "Rectangles, period by period.", answers, "400", "413", "414")
    batch = _operation("seriesCountBatch", "Many rectangles, period by period.", answers, "400", "413")
    content = {"application/json": {"schema": reference("Question")}}
    return {
        "/series": {"get": _operation("toSeries", "Leads to the page of the series.", _lead())},
        "/series/": {"get": _operation("seriesPage", "Page of the series.", _page())},
        "/v1/series": {"get": _operation("seriesPlaces", "Places, period by period.", _json("SeriesPlaces"))},
        "/v1/series/count": {
            "get": {**asked, "parameters": [RECT, ASKED_CONFIDENCE]},
            "post": {**batch, "requestBody": {"required": True, "content": content}},
        },
    }


def _count() -> dict[str, Any]:
    operation = _operation("count", "Estimates with intervals.", _json("Answers"), "400", "404", "413", "414")
    return {**operation, "parameters": [RECT, ASKED_CONFIDENCE, *SLICES_ASKED]}


def _count_batch() -> dict[str, Any]:
    operation = _operation("countBatch", "Estimates with intervals, many.", _json("Answers"), "400", "404", "413")
    content = {"application/json": {"schema": reference("Question")}}
    return {**operation, "requestBody": {"required": True, "content": content}}


def _cells() -> dict[str, Any]:
    operation = _operation("cells", "Leaf cells, a part of them.", _json("Cells"), "400", "404", "414")
    which = {"name": "slice", "in": "query", "description": "The slice, of a release in slices.", "schema": TEXT}
    return {**operation, "parameters": [which, *_paging("cell", USUAL_PAGE)]}


def _areas() -> dict[str, Any]:
    operation = _operation("areas", "Named areas of a level.", _json("Areas"), "400", "404", "414")
    level = {"name": "level", "in": "query", "description": "Which level; the finest if not given.", "schema": TEXT}
    return {**operation, "parameters": [level, ASKED_CONFIDENCE, *SLICES_ASKED, *_paging("area", LARGEST_PAGE)]}


def _polygons() -> dict[str, Any]:
    kind = "application/geo+json"
    answer = {"200": {"description": "The answer.", "content": {kind: {"schema": reference("Features")}}}}
    operation = _operation("polygons", "Estimates in polygons.", answer, "400", "404", "413", "414")
    body = {"required": True, "content": {kind: {"schema": reference("Polygons")}}}
    return {**operation, "parameters": [ASKED_CONFIDENCE, *SLICES_ASKED], "requestBody": body}


def _paging(what: str, usual: int) -> list[dict[str, Any]]:
    first = {"type": "integer", "minimum": 0, "default": 0}
    limit = {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": usual}
    return [
        {"name": "first", "in": "query", "description": f"Number of the first {what}, from 0.", "schema": first},
        {"name": "limit", "in": "query", "description": f"How many {what}s at most.", "schema": limit},
    ]


def _operation(name: str, summary: str, answer: dict[str, Any], *refusals: str) -> dict[str, Any]:
    content = {"application/json": {"schema": reference("Error")}}
    refused = {status: {"description": REASONS[status], "content": content} for status in refusals}
    return {"operationId": name, "summary": summary, "responses": {**answer, **refused}}


def _json(schema: str) -> dict[str, Any]:
    return {"200": {"description": "The answer.", "content": {"application/json": {"schema": reference(schema)}}}}


def _page() -> dict[str, Any]:
    return {
        "200": {"description": "A page that answers by itself.", "content": {"text/html": {}}},
        "304": {"description": "The page is the one the client has."},
    }


def _lead() -> dict[str, Any]:
    return {"307": {"description": "The address is in the header Location."}}
