"""What can be asked of the server, in OpenAPI 3.1."""

from collections.abc import Iterable
from typing import Any

from hushgrid.version import __version__
from hushgrid.web.limits import (
    LARGEST_BATCH,
    LARGEST_BODY,
    LARGEST_PAGE,
    LONGEST_QUERY,
    USUAL_PAGE,
)
from hushgrid.web.schemas import CONFIDENCE_SCHEMA, SCHEMAS, reference

REASONS = {
    "400": "The question is malformed.",
    "404": "There is no such release.",
    "413": f"More than {LARGEST_BATCH:,} rectangles, or a body of more than {LARGEST_BODY:,} bytes.",
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


def description(names: Iterable[str]) -> dict[str, Any]:
    """The description of a server for releases of these names."""
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
            "description": "Counts of points in rectangles, from releases under differential privacy. Asking costs no "
            "privacy. Every number is an estimate with noise.",
        },
        "paths": {
            "/": {"get": _operation("start", "Leads to the page of the first release.", _lead())},
            "/{name}": {"parameters": [name], "get": _operation("toPage", "Leads to the page.", _lead(), "404")},
            "/{name}/": {"parameters": [name], "get": _operation("page", "Map of a release.", _page(), "404")},
            "/v1/": {"get": _operation("releases", "What each release is and promises.", _json("Releases"))},
            "/v1/{name}/count": {"parameters": [name], "get": _count(), "post": _count_batch()},
            "/v1/{name}/cells": {"parameters": [name], "get": _cells()},
            "/openapi.json": {"get": _operation("openapi", "This description.", _json("Description"))},
            "/healthz": {"get": _operation("healthz", "Whether the server answers.", _json("Health"))},
        },
        "components": {"schemas": SCHEMAS},
    }


def _count() -> dict[str, Any]:
    operation = _operation("count", "Estimates with intervals.", _json("Answers"), "400", "404", "413", "414")
    confidence = {"name": "confidence", "in": "query", "description": "Of the intervals.", "schema": CONFIDENCE_SCHEMA}
    return {**operation, "parameters": [RECT, confidence]}


def _count_batch() -> dict[str, Any]:
    operation = _operation("countBatch", "Estimates with intervals, many.", _json("Answers"), "400", "404", "413")
    content = {"application/json": {"schema": reference("Question")}}
    return {**operation, "requestBody": {"required": True, "content": content}}


def _cells() -> dict[str, Any]:
    operation = _operation("cells", "Leaf cells, a part of them.", _json("Cells"), "400", "404", "414")
    first = {"type": "integer", "minimum": 0, "default": 0}
    limit = {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": USUAL_PAGE}
    parameters = [
        {"name": "first", "in": "query", "description": "Number of the first cell, from 0.", "schema": first},
        {"name": "limit", "in": "query", "description": "How many cells at most.", "schema": limit},
    ]
    return {**operation, "parameters": parameters}


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
