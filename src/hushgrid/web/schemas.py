"""Shapes of what the server takes and answers, as JSON Schema."""

from typing import Any

from hushgrid.web.api import BOUNDS
from hushgrid.web.limits import HIGHEST_CONFIDENCE, LARGEST_BATCH, LOWEST_CONFIDENCE
from hushgrid.web.question import CONFIDENCE

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
AMOUNT: Schema = {"type": "number", "minimum": 0}
WHOLE: Schema = {"type": "integer", "minimum": 0}
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


def _with(text: str, schema: Schema) -> Schema:
    return {**schema, "description": text}


EDGES = dict.fromkeys(BOUNDS, NUMBER)
RECT = _with("West, south, east, north.", _listed(NUMBER, minItems=4, maxItems=4))
MEANING = {
    "release": _with("Name of the release.", TEXT),
    "simulation": _with("Whether the noise came from a seed: such a release protects nobody.", TRUTH),
    "counted": _with("What the numbers are counts of.", TEXT),
    "caveats": _with("What a reader of the numbers must know.", _listed(TEXT)),
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
            "domain": _record({**EDGES, "crs": TEXT}),
        }
    ),
    "Question": _record(
        {"rects": _listed(RECT, maxItems=LARGEST_BATCH), "confidence": CONFIDENCE_SCHEMA}, optional=("confidence",)
    ),
    "Answers": _record({**MEANING, "confidence": NUMBER, "answers": _listed(reference("Answer"))}),
    "Answer": _record(
        {
            **EDGES,
            "estimate": _with("Never clipped, so that disjoint rectangles add up: noise can take it below 0.", NUMBER),
            "low": AMOUNT,
            "high": AMOUNT,
            "noise_std": _with("Standard deviation by noise.", AMOUNT),
            "spread_std": _with("Standard deviation by points not lying evenly in cells that are cut.", AMOUNT),
            "usable": _with("Whether the interval is at most as wide as the estimate.", TRUTH),
        }
    ),
    "Cells": _record(
        {
            **MEANING,
            "total": _with("Cells of the release.", WHOLE),
            "first": _with("Number of the first cell here.", WHOLE),
            "cells": _listed(reference("Cell")),
            "next": _with("Address of the next cells, relative to this one.", {"type": ["string", "null"]}),
        }
    ),
    "Cell": _record({**EDGES, "count": NUMBER, "std_error": _with("Standard deviation by noise.", AMOUNT)}),
}
