"""The description of the server: every route is in it, and every answer looks as it says."""

import re

import httpx
import pytest

from hushgrid.web.api import answers
from hushgrid.web.openapi import description
from hushgrid.web.polygons import POLYGONS_EXAMPLE
from hushgrid.web.questions import EXAMPLE, question_in_body
from hushgrid.web.server import routes
from hushgrid.web.shelf import Shelf
from tests.slices import some_slices
from tests.web.districts import district_release
from tests.web.servers import serving, some_synopses

SHELF = Shelf(
    [
        *some_synopses().items(),
        ("districts", district_release()),
        ("kinds", some_slices()),
        ("district-kinds", some_slices("areas")),
    ]
)
DESCRIPTION = description(SHELF.entries)
KINDS = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def resolve(schema):
    """A schema, looked up where it is a reference."""
    if "$ref" not in schema:
        return schema
    return DESCRIPTION["components"]["schemas"][schema["$ref"].removeprefix("#/components/schemas/")]


def faults(value, schema, where="$"):
    """What is wrong with a value: the part of JSON Schema that the description uses."""
    schema = resolve(schema)
    if "anyOf" in schema:
        return min((faults(value, each, where) for each in schema["anyOf"]), key=len)
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if not any(isinstance(value, KINDS[kind]) and isinstance(value, bool) <= (kind == "boolean") for kind in kinds):
        return [f"{where} is no {kinds}"]
    found = [f"{where} is not in the enum"] if value not in schema.get("enum", [value]) else []
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        found += [f"{where} lacks {name}" for name in schema.get("required", []) if name not in value]
        if schema.get("additionalProperties", True) is False:
            found += [f"{where} has {name}" for name in value.keys() - properties.keys()]
        for name in value.keys() & properties.keys():
            found += faults(value[name], properties[name], f"{where}.{name}")
    elif isinstance(value, list):
        found += [f"{where} is short"] if len(value) < schema.get("minItems", 0) else []
        found += [f"{where} is long"] if len(value) > schema.get("maxItems", len(value)) else []
        for index, item in enumerate(value):
            found += faults(item, schema["items"], f"{where}[{index}]")
    elif isinstance(value, int | float):
        inside = schema.get("minimum", value) <= value <= schema.get("maximum", value)
        found += [] if inside else [f"{where} is out of range"]
    return found


def operations():
    """Path, method and description of everything that can be asked."""
    return [
        (path, method, operation)
        for path, item in DESCRIPTION["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    ]


@pytest.fixture(scope="module")
def client():
    """A client of a server for the shelf; it follows nothing."""
    with serving(SHELF) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def asked(client, path, method, name="nested", **parameters):
    """The answer to an operation, with what it requires."""
    if method == "post":
        body = POLYGONS_EXAMPLE if path.endswith("polygons") else EXAMPLE
        return client.post(path.format(name=name), content=body, params=parameters)
    needed = {"rect": "-100,30,-90,40"} if path.endswith("count") else {}
    return client.get(path.format(name=name), params=needed | parameters)


def test_every_route_is_described_and_no_other():
    """Paths and methods of the server are those of the description."""
    served = {(route.path, method.lower()) for route in routes(SHELF) for method in route.methods - {"HEAD"}}

    assert served == {(path, method) for path, method, _ in operations()}


def test_the_description_is_what_it_should_be():
    """Version, names of operations, parameters of paths, and references that lead somewhere."""
    names = [operation["operationId"] for _, _, operation in operations()]
    used = set(re.findall(r"#/components/schemas/(\w+)", repr(DESCRIPTION)))

    assert DESCRIPTION["openapi"].startswith("3.1.")
    assert {"title", "version"} <= DESCRIPTION["info"].keys()
    assert len(set(names)) == len(names)
    assert used == DESCRIPTION["components"]["schemas"].keys()
    for path, item in DESCRIPTION["paths"].items():
        declared = [parameter["name"] for parameter in item.get("parameters", []) if parameter["in"] == "path"]
        assert declared == re.findall(r"{(\w+)}", path)
    for _, _, operation in operations():
        assert operation["summary"]
        assert all(response["description"] for response in operation["responses"].values())


@pytest.mark.parametrize(("path", "method", "operation"), operations(), ids=lambda value: str(value)[:30])
@pytest.mark.parametrize("name", SHELF.entries)
def test_answers_are_as_described(client, path, method, operation, name):
    """Status, type and, in JSON, every member are as described."""
    if path.endswith("areas"):
        has_areas = name.startswith("district")
        assert (asked(client, path, method, name).status_code == 200) == has_areas
        name = name if has_areas else "districts"
    one = {"slice": "car"} if path.endswith("cells") and "kinds" in name else {}
    answer = asked(client, path, method, name, **one)
    content = operation["responses"][str(answer.status_code)].get("content", {})

    assert answer.status_code in (200, 307)
    if content:
        (kind,) = content
        assert answer.headers["content-type"].split(";")[0] == kind
    if answer.status_code == 200 and kind.endswith("json"):
        assert faults(answer.json(), content[kind]["schema"]) == []


def test_answers_for_each_slice_are_as_described(client):
    """The members of a row by slice, and of nothing else."""
    for path, method, operation in operations():
        if "each" not in [parameter["name"] for parameter in operation.get("parameters", [])]:
            continue
        found = asked(client, path, method, "district-kinds", each="true").raise_for_status().json()
        (content,) = operation["responses"]["200"]["content"].values()
        assert faults(found, content["schema"]) == []
        assert found["slices"] == ["car", "bike", "=bus"]
        assert "by_slice" in str(found)


@pytest.mark.parametrize(("path", "method", "operation"), operations(), ids=lambda value: str(value)[:30])
def test_refusals_are_as_described(client, path, method, operation):
    """An unknown name and an unknown parameter, wherever there are names and parameters."""
    refused = []
    if "{name}" in path:
        refused.append(asked(client, path, method, name="other"))
    if "parameters" in operation:
        refused.append(asked(client, path, method, wrong="1"))
    for answer in refused:
        content = operation["responses"][str(answer.status_code)]["content"]["application/json"]
        assert faults(answer.json(), content["schema"]) == []


def test_parameters_and_members_are_those_that_are_taken(client):
    """Each parameter with its default or example is accepted, and the example of a body fits its schema."""
    for path, method, operation in operations():
        given = {
            parameter["name"]: parameter["schema"].get("default", parameter.get("example"))
            for parameter in operation.get("parameters", [])
        } | ({"level": "state"} if path.endswith("areas") else {})
        given = {name: value for name, value in given.items() if value is not None}
        assert asked(client, path, method, name="districts", **given).status_code in (200, 307)
    assert faults(httpx.Response(200, content=EXAMPLE).json(), {"$ref": "#/components/schemas/Question"}) == []


def test_the_check_would_notice_a_wrong_answer():
    """Negative control: a member too many, one too few, a number as text, a truth as a number, a negative amount."""
    good = answers(SHELF.entry("trips"), question_in_body(EXAMPLE.encode()))
    schema = {"$ref": "#/components/schemas/Answers"}
    answer = good["answers"][0]
    wrong = [
        {**good, "extra": 1},
        {name: value for name, value in good.items() if name != "release"},
        {**good, "confidence": "0.95"},
        {**good, "simulation": 0},
        {**good, "answers": [{**answer, "estimate": True}]},
        {**good, "answers": [{**answer, "low": -1.0}]},
        {**good, "caveats": None},
    ]

    assert faults(good, schema) == []
    for value in wrong:
        assert len(faults(value, schema)) == 1
