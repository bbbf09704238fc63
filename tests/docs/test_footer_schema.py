"""The JSON schema of the footer in the reference, and the code that writes and reads footers, say the same."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import jsonschema
import numpy as np
import pyarrow.parquet as pq
import pytest
import shapely

import hushgrid as hg
from hushgrid.errors import SynopsisFileError
from hushgrid.files.footer import SCHEMA_VERSION, footer_metadata, parse_footer
from hushgrid.geometry.areas import SHORTEST_RING, VERTEX_LIMIT
from hushgrid.geometry.grid import CELL_LIMIT
from hushgrid.inference.inferences import INFERENCES
from hushgrid.synopsis.answer import CONFIDENCES, SIDES, VERSION
from tests.docs.page import ROOT

SCHEMA = json.loads((ROOT / "docs" / "reference" / "footer.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
GOLDEN = sorted((ROOT / "tests" / "golden").rglob("*.dp.parquet"))
DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
POINTS = np.random.default_rng(4).beta(2, 5, (3000, 2))
USERS = {"user": np.arange(3000) // 10, "max_per_user": 3}
HALVES = hg.Areas([shapely.box(0, 0, 0.5, 1), shapely.box(0.5, 0, 1, 1)], names=["west", "east"])
RELEASES: dict[str, dict[str, Any]] = {
    **{name: {"method": name} for name in hg.METHODS},
    "areas": {"method": HALVES},
    "bayes": {"method": hg.Staq(inference="bayes")},
    "least-squares": {"method": hg.Staq(inference="least-squares")},
    "smooth": {"method": hg.AdaptiveGrid(smooth=True)},
    "public-size": {"public_size": 3000},
    "users": USERS,
    "users-share-not-told": {**USERS, "kept_share": False},
    "users-scaled": {**USERS, "scale_to_total": 3000},
    "users-scaled-in-private": {**USERS, "scale_to_total": "private"},
    "distinct-users": {**USERS, "distinct": True, "method": hg.UniformGrid(side=8)},
}


def footer_of(**arguments: Any) -> tuple[dict[bytes, bytes], int]:
    """The footer of a release and its number of rows."""
    synopsis = hg.publish(POINTS, domain=DOMAIN, epsilon=1, calibrate=False, rng=hg.simulation_rng(7), **arguments)
    return footer_metadata(synopsis), synopsis.partition.cells


def accepts(footer: dict[bytes, bytes], rows: int) -> bool:
    """Whether the reader takes a footer."""
    try:
        parse_footer(footer, rows=rows)
    except SynopsisFileError:
        return False
    return True


def without_one_key(release: Any) -> Iterator[tuple[str, Any]]:
    """The release with each key of each of its objects removed in turn, and the path of that key."""
    for key, value in release.items():
        yield key, {name: each for name, each in release.items() if name != key}
        if isinstance(value, dict) and key != "parameters":
            for path, changed in without_one_key(value):
                yield f"{key}.{path}", release | {key: changed}


@pytest.mark.parametrize("arguments", RELEASES.values(), ids=RELEASES)
def test_releases_are_as_the_schema_says(arguments: dict[str, Any]) -> None:
    """Of every method, and of every kind of guarantee."""
    footer, _ = footer_of(**arguments)

    VALIDATOR.validate(json.loads(footer[b"hushgrid"]))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_old_releases_are_as_the_schema_says(path) -> None:
    """Those that are kept for ever."""
    VALIDATOR.validate(json.loads(pq.read_metadata(path).metadata[b"hushgrid"]))


def test_a_release_on_a_ledger_is_as_the_schema_says(tmp_path) -> None:
    """A release on a ledger names its entry, and fits the schema."""
    from hushgrid.ledger.ledger import open_ledger

    with open_ledger(str(tmp_path / "ledger"), create=True) as ledger:
        ledger.add_dataset("trips", budget=3, unit="record")
    arguments = {"ledger": tmp_path / "ledger", "dataset": "trips", "method": "ug", "calibrate": False}
    synopsis = hg.publish(POINTS, domain=DOMAIN, epsilon=1, **arguments)
    release = json.loads(footer_metadata(synopsis)[b"hushgrid"])

    assert release["ledger"]["entry"] == 1
    VALIDATOR.validate(release)


@pytest.mark.parametrize("name", ["ug", "kd", "privlet", "areas", "users-scaled-in-private", "distinct-users"])
def test_schema_and_reader_need_the_same_keys(name: str) -> None:
    """A footer without a key is refused by both, or by neither."""
    footer, rows = footer_of(**RELEASES[name])
    release = json.loads(footer[b"hushgrid"])
    removed = dict(without_one_key(release))
    by_schema = {path for path, changed in removed.items() if not VALIDATOR.is_valid(changed)}
    by_reader = {
        path
        for path, changed in removed.items()
        if not accepts(footer | {b"hushgrid": json.dumps(changed).encode()}, rows)
    }

    assert len(removed) > 30
    assert by_schema == by_reader


def test_keys_that_nobody_knows_are_refused_by_both() -> None:
    """In every object of the footer."""
    footer, rows = footer_of(**RELEASES["users-scaled"])
    release = json.loads(footer[b"hushgrid"])
    for name in ("domain", "structure", "measurements", "method", "claim", "calibration", "scale", None):
        changed = deepcopy(release)
        (changed if name is None else changed[name])["colour"] = "blue"

        assert not VALIDATOR.is_valid(changed)
        assert not accepts(footer | {b"hushgrid": json.dumps(changed).encode()}, rows)


def test_numbers_of_the_schema_are_those_of_the_code() -> None:
    """Versions, names and limits in the schema are those of the code."""
    parts, definitions = SCHEMA["properties"], SCHEMA["$defs"]
    calibration = definitions["calibration"]["properties"]

    assert parts["schema"]["const"] == SCHEMA_VERSION
    assert parts["inference"]["enum"] == list(INFERENCES)
    assert definitions["cells"]["maximum"] == CELL_LIMIT
    vertices = definitions["structure"]["oneOf"][2]["properties"]["vertices"]
    assert (vertices["minimum"], vertices["maximum"]) == (SHORTEST_RING, VERTEX_LIMIT)
    assert (calibration["sides"]["const"], calibration["confidences"]["const"]) == (list(SIDES), list(CONFIDENCES))
    assert calibration["factors"]["minItems"] == len(SIDES) * len(CONFIDENCES)
    assert calibration["version"]["const"] == VERSION
