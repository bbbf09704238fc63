"""The JSON schema of the footer in the reference, and the code that writes and reads footers, say the same."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import referencing
import shapely

import hushgrid as hg
from hushgrid.errors import SynopsisFileError
from hushgrid.files.footer import FIRST_SCHEMA_VERSION, SCHEMA_VERSION, footer_metadata, parse_footer
from hushgrid.geometry.areas import SHORTEST_RING, VERTEX_LIMIT
from hushgrid.geometry.grid import CELL_LIMIT
from hushgrid.inference.inferences import INFERENCES
from hushgrid.slices.axes import MOST_SLICES
from hushgrid.slices.files import parse_sliced_footer, sliced_metadata
from hushgrid.synopsis.answer import CONFIDENCES, SIDES, VERSIONS
from tests.docs.page import ROOT
from tests.slices import PARTITIONS, some_slices

SCHEMA = json.loads((ROOT / "docs" / "reference" / "footer.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SLICED_SCHEMA = json.loads((ROOT / "docs" / "reference" / "slices.schema.json").read_text())
SLICED_VALIDATOR = jsonschema.Draft202012Validator(
    SLICED_SCHEMA,
    registry=referencing.Registry().with_resource("footer.schema.json", referencing.Resource.from_contents(SCHEMA)),
)
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
    "all-records": {**USERS, "estimate": "all-records"},
    "all-records-of-a-public-total": {**USERS, "estimate": "all-records", "scale_to_total": 3000},
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
    release = json.loads(pq.read_metadata(path).metadata[b"hushgrid"])
    (SLICED_VALIDATOR if "slices" in release else VALIDATOR).validate(release)


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


def test_a_release_with_a_prior_is_as_the_schema_says(tmp_path) -> None:
    """Whether it was believed, and with as many keys as the reader needs."""
    others = np.random.default_rng(5).beta(2, 5, (3000, 2))
    pq.write_table(pa.table({"lon": others[:, 0], "lat": others[:, 1]}), tmp_path / "public.parquet")
    footer, rows = footer_of(prior=tmp_path / "public.parquet")
    release = json.loads(footer[b"hushgrid"])
    VALIDATOR.validate(release)

    lacking = [{name: each for name, each in release["prior"].items() if name != key} for key in release["prior"]]
    for prior in (*lacking, release["prior"] | {"sha256": "zz"}, release["prior"] | {"sha256": 63 * "a"}):
        changed = release | {"prior": prior}
        assert not VALIDATOR.is_valid(changed)
        assert not accepts(footer | {b"hushgrid": json.dumps(changed).encode()}, rows)


def test_a_release_aimed_at_places_is_as_the_schema_says() -> None:
    """With as many keys as the reader needs."""
    import shapely

    west, south, east, north = DOMAIN.bounds
    footer, rows = footer_of(aim=[shapely.box(west, south, (west + east) / 2, (south + north) / 2)])
    release = json.loads(footer[b"hushgrid"])
    VALIDATOR.validate(release)
    assert accepts(footer, rows)

    for key in release["places"]:
        changed = release | {"places": {name: each for name, each in release["places"].items() if name != key}}
        assert not VALIDATOR.is_valid(changed)
        assert not accepts(footer | {b"hushgrid": json.dumps(changed).encode()}, rows)


@pytest.mark.parametrize(
    "name", ["ug", "kd", "privlet", "areas", "users-scaled-in-private", "all-records", "distinct-users"]
)
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


def accepts_slices(footer: dict[bytes, bytes], rows: int) -> bool:
    """Whether the reader takes a footer of slices."""
    try:
        parse_sliced_footer(footer, rows=rows)
    except SynopsisFileError:
        return False
    return True


@pytest.mark.parametrize("kind", PARTITIONS)
def test_schema_and_reader_need_the_same_keys_of_slices(kind: str) -> None:
    """A footer of slices without a key, or with another one, is refused by both or by neither."""
    slices = some_slices(kind)
    footer, rows = sliced_metadata(slices), sum(part.partition.cells for _, part in slices.all_parts())
    release = json.loads(footer[b"hushgrid"])
    SLICED_VALIDATOR.validate(release)
    assert accepts_slices(footer, rows)
    first, *others = release["slices"]
    changed = [each for path, each in without_one_key(release) if path != "total" and not path.startswith("by.")]
    changed += [release | {"slices": [each, *others]} for _, each in without_one_key(first)]
    changed += [release | {"colour": "blue"}, release | {"slices": [first | {"colour": "blue"}, *others]}]
    for each in changed:
        text = json.dumps(each).encode()
        assert SLICED_VALIDATOR.is_valid(each) == accepts_slices(footer | {b"hushgrid": text}, rows)


@pytest.mark.parametrize(
    "by",
    [
        hg.By("kind", values=["a"], other=True),
        hg.By.time("at", "hour", timezone="Europe/Berlin", format="%d.%m.%Y %H"),
        hg.By.product(hg.By("kind", values=["a"]), hg.By.time("at", "month", start="2026-01-01", end="2026-03-01")),
        hg.By.time("at", "weekday", unit="seconds"),
    ],
    ids=lambda by: by.names[0],
)
def test_what_slices_are_is_as_the_schema_says(by: hg.By) -> None:
    """By values, by time, by both."""
    release = json.loads(sliced_metadata(some_slices("grid"))[b"hushgrid"])
    SLICED_VALIDATOR.validate(release | {"by": by.to_dict()})


def test_numbers_of_the_schema_are_those_of_the_code() -> None:
    """Versions, names and limits in the schema are those of the code."""
    parts, definitions = SCHEMA["properties"], SCHEMA["$defs"]
    calibration = definitions["calibration"]["properties"]

    assert parts["schema"]["enum"] == [FIRST_SCHEMA_VERSION, SCHEMA_VERSION]
    assert SLICED_SCHEMA["properties"]["schema"]["const"] == SCHEMA_VERSION
    assert SLICED_SCHEMA["properties"]["slices"]["maxItems"] == MOST_SLICES
    assert SLICED_SCHEMA["properties"]["structures"]["maxItems"] == MOST_SLICES + 1
    assert parts["inference"]["enum"] == list(INFERENCES)
    assert definitions["cells"]["maximum"] == CELL_LIMIT
    vertices = definitions["structure"]["oneOf"][2]["properties"]["vertices"]
    assert (vertices["minimum"], vertices["maximum"]) == (SHORTEST_RING, VERTEX_LIMIT)
    assert (calibration["sides"]["const"], calibration["confidences"]["const"]) == (list(SIDES), list(CONFIDENCES))
    assert calibration["factors"]["minItems"] == len(SIDES) * len(CONFIDENCES)
    assert tuple(calibration["version"]["enum"]) == VERSIONS
