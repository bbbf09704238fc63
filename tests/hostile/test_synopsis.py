"""Release files from strangers: read, verified, described, asked and drawn, or refused in one line."""

import json
import os
import pickle
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shapely import box

import hushgrid
from hushgrid.answering.areas import area_partition
from hushgrid.errors import SynopsisFileError
from hushgrid.files.structure import layout_schema
from hushgrid.files.verify import verify_file
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.synopsis.synopsis import read
from tests.hostile.conftest import Tried
from tests.hostile.outcomes import STRANGE, command, limited, mutants, peak_of, read_or_refused, strange_paths
from tests.quadtrees import complete_quadtree
from tests.synopses import synopsis_on
from tests.tampering import packed, tamper

DOMAIN = Domain(west=0, south=0, east=2, north=1)
GRID = Grid(domain=DOMAIN, rows=2, columns=3)
PARTITIONS = {
    "grid": GRID,
    "nested": NestedGrid(grid=Grid(domain=DOMAIN, rows=1, columns=2), sides=[1, 2]),
    "tree": complete_quadtree(1),
    "areas": area_partition(
        [box(0, 0, 0.5, 1), box(0.5, 0, 2, 1).difference(box(1, 0.2, 1.5, 0.6))], ["A", "B"], DOMAIN
    ),
}
STRIPS = [box(number / 2, 0, (number + 1) / 2, 1) for number in range(4)]
IN_LEVELS = {"land": ["L", "M", "L", "L"], "state": ["S", "T", "S", "U"]}
PARTITIONS["areas in levels"] = area_partition(STRIPS, list("abcd"), DOMAIN, level="county", coarser=IN_LEVELS)
NEST = 100_000
VERIFY = """
import sys
from hushgrid.errors import SynopsisFileError
from hushgrid.files.verify import verify_file as verify
try:
    verify(sys.argv[1])
except SynopsisFileError:
    pass
"""


@cache
def content(kind: str) -> bytes:
    """The bytes of a small release."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.dp.parquet"
        synopsis_on(PARTITIONS[kind]).save(path)
        return path.read_bytes()


def made(folder: Path, kind: str = "grid") -> Path:
    """A small release."""
    path = folder / "x.dp.parquet"
    path.write_bytes(content(kind))
    return path


def use(path: Path) -> bool:
    """Read and verify; whatever can be read is asked, described and drawn, too."""
    verified = read_or_refused(lambda: verify_file(path))
    if not read_or_refused(lambda: read(path).answer([[0, 0, 1, 1], [-np.inf, -np.inf, np.inf, np.inf]])):
        return False
    assert verified
    for options in ([], ["--json"]):
        command("describe", path, *options)
        command("query", path, "--rect", "0,0,1.5,1", *options)
    command("map", path, "-o", path.with_suffix(".html"), "--overwrite")
    command("sample", path, "-n", "5", "-o", path.with_suffix(".geojson"), "--overwrite")
    if not read(path).partition.tiles:
        command("query", path, "--whole")
        command("export", path, "--whole", "-o", path.with_suffix(".csv"), "--overwrite")
    return True


def mutate(kind: str, number: int, folder: Path, tried: Tried) -> None:
    path = folder / "x.dp.parquet"
    for mutant in mutants(content(kind), number, seed=number):
        path.write_bytes(mutant)
        with tried.one():
            read_or_refused(lambda: verify_file(path))
            read_or_refused(lambda: read(path))
    tried.at_least(number)


@pytest.mark.parametrize("kind", PARTITIONS)
def test_mutated_files(kind: str, tmp_path: Path, tried: Tried) -> None:
    """Bytes flipped, cut out, doubled and overwritten by extreme numbers, half of them in the footer."""
    mutate(kind, 250, tmp_path, tried)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PARTITIONS)
def test_many_mutated_files(kind: str, tmp_path: Path, tried: Tried) -> None:
    """Ten times as many mutated releases are read or refused."""
    mutate(kind, 2_500, tmp_path, tried)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a JSON value."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def replaced(place: tuple[Any, ...], strange: Any) -> Callable[[dict[str, Any]], None]:
    """An edit of the footer."""

    def edit(release: Any) -> None:
        for key in place[:-1]:
            release = release[key]
        release[place[-1]] = strange

    return edit


def strange_footers(kind: str, step: int, folder: Path, tried: Tried) -> None:
    path = made(folder, kind)
    footer = json.loads(pq.read_metadata(path).metadata[b"hushgrid"])
    cases = [(place, strange) for place in places(footer) for strange in STRANGE]
    for place, strange in cases[::step]:
        made(folder, kind)
        tamper(path, edit=replaced(place, strange))
        with tried.one():
            use(path)


@pytest.mark.parametrize("kind", PARTITIONS)
def test_strange_values_in_the_footer(kind: str, tmp_path: Path, tried: Tried) -> None:
    """A value of the footer replaced by every kind of number, text, list and object; one case of 17."""
    strange_footers(kind, 17, tmp_path, tried)
    tried.at_least(60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PARTITIONS)
def test_every_strange_value_everywhere_in_the_footer(kind: str, tmp_path: Path, tried: Tried) -> None:
    """All of them, in every place; one case of 5."""
    strange_footers(kind, 5, tmp_path, tried)
    tried.at_least(200)


COLUMNS = {
    "counts at the end of the doubles": {"count": [1.7e308] * 6},
    "counts that cancel": {"count": [1.7e308, -1.7e308] * 3},
    "NaN": {"count": [np.nan] * 6},
    "infinite counts": {"count": [np.inf] * 6},
    "the largest measurements": {"measured": [2**63 - 1] * 6},
    "the smallest measurements": {"measured": [-(2**63)] * 6},
    "tiny rates": {"rate": ["1/1" + "0" * 149] * 6},
    "rates too tiny": {"rate": ["1/1" + "0" * 300] * 6},
    "huge rates": {"rate": ["1" + "0" * 299] * 6},
    "rates that are formulas": {"rate": ["=1+1"] * 6},
    "rates that are commands to a terminal": {"rate": ["\x1b[2J"] * 6},
    "many digits": {"rate": ["9" * 511] * 6},
    "standard errors of NaN": {"std_error": [np.nan] * 6},
    "empty polygons": {"geometry": [b""] * 6},
    "bounds of NaN": {"west": [np.nan] * 6},
}


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_strange_columns(columns: dict[str, Any], tmp_path: Path, tried: Tried) -> None:
    """Numbers at the ends of their types, and texts that are no rates."""
    path = made(tmp_path)
    tamper(path, columns=columns)

    with tried.one():
        use(path)
    tried.at_least(1)


METADATA = {
    "deep lists": b"[" * NEST,
    "deep objects": b'{"a":' * NEST,
    "a pickle": pickle.dumps({"schema": 1}),
    "not UTF-8": b'{"schema": "\xff"}',
    "a key twice": b'{"schema": 1, "schema": 1}',
    "a number of 10,000 digits": b'{"schema": ' + b"9" * 10_000 + b"}",
    "NaN": b'{"schema": NaN}',
    "nothing": b"",
}


@pytest.mark.parametrize("text", METADATA.values(), ids=METADATA)
@pytest.mark.parametrize("key", ["hushgrid", "geo", "hushgrid:structure", "hushgrid:measurements"])
def test_strange_metadata(key: str, text: bytes, tmp_path: Path, tried: Tried) -> None:
    """Keys of the footer that hold something else: nesting, pickles, numbers without end."""
    for kind in ("grid", "nested"):
        path = made(tmp_path, kind)
        tamper(path, keys={key: text})
        with tried.one():
            assert not use(path) or key == "geo"
    tried.at_least(2)


CLAIMS: dict[str, dict[str, int]] = {
    "10^12 cells": {"rows": 10**6, "columns": 10**6, "cells": 10**12},
    "67 million cells": {"rows": 2**13, "columns": 2**13, "cells": 2**26},
    "67 million blocks": {"rows": 2**13, "columns": 2**13},
}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_a_small_file_claims_huge_arrays(claim: dict[str, int], tmp_path: Path, tried: Tried) -> None:
    """A few kilobytes of zstd that would be gigabytes of sides, in a process of 3 GB."""
    path = made(tmp_path, "nested")
    sides = pa.table([np.ones(2**20, np.int64)], schema=layout_schema(NestedGrid))
    tamper(path, edit=lambda release: release["structure"].update(claim), keys={"hushgrid:structure": packed(sides)})

    with tried.one():
        result = limited("verify", path)
    assert result.returncode == 3
    assert path.stat().st_size < 2**20
    tried.at_least(1)


def test_damaged_size_statistics_do_not_end_the_process(tmp_path: Path, tried: Tried) -> None:
    """One number of a footer taken for another: pyarrow, asked about that column, would abort."""
    path = made(tmp_path)
    damaged = path.read_bytes().replace(b"\x3c\x29\x06\x19\x26", b"\x3c\x19\x06\x19\x26")
    assert damaged != content("grid")
    path.write_bytes(damaged)

    with tried.one():
        result = limited("verify", path)
    assert result.returncode == 3
    assert "is damaged" in result.stderr
    tried.at_least(1)


HUGE = {
    "a polygon": {"geometry": [bytes(2**27), *[b""] * 5]},
    "a rate": {"rate": ["1" * 2**27, *["1"] * 5]},
    "a polygon in every row": {"geometry": [bytes(2**25)] * 6},
}


@pytest.mark.parametrize("columns", HUGE.values(), ids=HUGE)
def test_pages_that_expand(columns: dict[str, Any], tmp_path: Path, tried: Tried) -> None:
    """A value of 128 MB in a file of kilobytes: it is refused before it is decompressed."""
    path = made(tmp_path)
    tamper(path, columns=columns)

    with tried.one():
        peak = peak_of(VERIFY, path)
    assert path.stat().st_size < 2**16
    assert peak < 300
    tried.at_least(1)


def test_paths_that_are_no_files(tmp_path: Path, tried: Tried) -> None:
    """Folders, pipes, devices, links to themselves and to nowhere, and names too long."""
    for path in strange_paths(tmp_path, "x.dp.parquet").values():
        for name, *options in (
            ["describe"],
            ["verify"],
            ["query", "--rect", "0,0,1,1"],
            ["map", "-o", "m.html"],
            ["compare", tmp_path / "other.dp.parquet"],
        ):
            with tried.one():
                assert command(name, path, *options).exit_code == 3
    tried.at_least(50)


def test_a_name_in_a_file_is_no_path(tmp_path: Path, tried: Tried) -> None:
    """A reference system that would have PROJ open a pipe is refused; PROJ would wait there for ever."""
    os.mkfifo(tmp_path / "pipe")
    areas = tmp_path / "a.geojson"
    areas.write_text('{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,1],[0,0]]]}')
    for name in ("+init={}:x", "+proj=lonlat +nadgrids={} +type=crs", "init={}:x", "+proj=lonlat +GRIDS = {}"):
        path = made(tmp_path)
        tamper(path, edit=replaced(("domain", "crs"), name.format(tmp_path / "pipe")))
        with tried.one():
            assert limited("query", path, "--polygons", areas).returncode == 3
    tried.at_least(4)


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_nothing_is_unpickled(tmp_path: Path, tried: Tried) -> None:
    """Pickles as the file, as keys of its footer and as its polygons: none is ever run."""
    evidence = tmp_path / "unpickled"
    bomb = pickle.dumps(Bomb(evidence))
    path = tmp_path / "x.dp.parquet"
    for disguise in (bomb, b"PAR1" + bomb, b"PAR1" + bomb + len(bomb).to_bytes(4, "little") + b"PAR1"):
        path.write_bytes(disguise)
        with tried.one():
            assert not use(path)
    for keys in ({"pandas": bomb}, {"ARROW:schema": bomb}, {"hushgrid": bomb}, {"geo": bomb}):
        tamper(made(tmp_path), keys=keys)
        with tried.one():
            use(path)
    tamper(made(tmp_path), columns={"geometry": [bomb] * 6})
    with tried.one():
        use(path)

    assert not evidence.exists()
    pickle.loads(bomb)
    assert evidence.exists()  # the bomb works
    tried.at_least(8)


def test_the_source_has_nothing_that_runs_data() -> None:
    """No pickle, no eval or exec, no numpy file with objects, no YAML loader of objects."""
    running = re.compile(
        r"\bimport (pickle|marshal|shelve|dill|joblib)|allow_pickle\s*=\s*True"
        r"|(?<![.\w])(eval|exec)\(|yaml\.(unsafe_)?load\("
    )
    sources = list(Path(hushgrid.__file__).parent.rglob("*.py"))
    found = [path.name for path in sources if running.search(path.read_text(encoding="utf-8"))]

    assert len(sources) > 100
    assert found == []
    assert running.search("import pickle")
    assert running.search("x = eval(text)")


def in_structure(**changes: Any) -> Callable[[dict[str, Any]], None]:
    """An edit of the structure: values to set, or functions of those that are there."""

    def edit(release: dict[str, Any]) -> None:
        structure = release["structure"]
        for name, change in changes.items():
            if change is None:
                del structure[name]
            else:
                structure[name] = change(structure[name]) if callable(change) else change

    return edit


def of_level(number: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    """An edit of one of the coarser levels."""
    return in_structure(
        levels=lambda levels: [{**level, **changes} if place == number else level for place, level in enumerate(levels)]
    )


UNTRUE_LEVELS = {
    "parts that do not sum to the areas": (of_level(1, parts=[2, 1, 2]), "whole areas of the next level"),
    "a part of nothing": (of_level(1, parts=[2, 2, 0]), "parts"),
    "fewer names than parts": (of_level(0, names=["L"]), "whole areas of the next level"),
    "a border inside an area below": (of_level(0, parts=[1, 3]), "whole areas of the next level"),
    "levels in the wrong order": (in_structure(levels=lambda levels: levels[::-1]), "whole areas of the next level"),
    "a name twice": (of_level(1, names=["S", "S", "T"]), "names that tell them apart"),
    "an empty name": (of_level(1, names=["S", " ", "T"]), "names that tell them apart"),
    "levels of one name": (of_level(1, name="land"), "levels need names that tell them apart"),
    "the finest called like another": (in_structure(level="state"), "levels need names that tell them apart"),
    "a level without a name": (of_level(0, name=""), "levels need names that tell them apart"),
    "a place twice": (in_structure(places=[0, 0, 1, 2]), "no two the same"),
    "a place beyond": (in_structure(places=[0, 1, 2, 4]), "places"),
    "too few places": (in_structure(places=[0, 1, 2]), "every area needs a place"),
    "no places": (in_structure(places=None), "places"),
    "no name of the finest": (in_structure(level=None), "level"),
    "something unknown": (of_level(0, weights=[1, 1]), "weights"),
    "places without levels": (in_structure(levels=None), "level"),
    "a level of numbers": (of_level(0, names=[1, 2]), "names"),
    "half a part": (of_level(1, parts=[2, 0.5, 1.5]), "parts"),
}


@pytest.mark.parametrize(("edit", "words"), UNTRUE_LEVELS.values(), ids=UNTRUE_LEVELS)
def test_levels_that_contradict_themselves_are_refused(edit: Any, words: str, tmp_path: Path) -> None:
    """By the one who reads, the one who verifies and the command line, in a sentence that says what is wrong."""
    path = made(tmp_path, "areas in levels")
    tamper(path, edit=edit)

    with pytest.raises(SynopsisFileError, match=words):
        read(path)
    with pytest.raises(SynopsisFileError):
        verify_file(path)
    assert command("query", path, "--whole").exit_code == 3


def test_a_release_in_levels_is_used_as_it_is(tmp_path: Path) -> None:
    """Guard: what is refused above is refused for what was changed."""
    path = made(tmp_path, "areas in levels")

    assert use(path)
    assert verify_file(path).ok


MOVED_LEVELS = {
    "areas moved from one state to another": of_level(1, parts=[1, 2, 1], names=["S", "U", "T"]),
    "a level left out": in_structure(levels=lambda levels: levels[:1]),
}


@pytest.mark.parametrize("edit", MOVED_LEVELS.values(), ids=MOVED_LEVELS)
def test_levels_that_were_not_measured_are_noticed(edit: Any, tmp_path: Path) -> None:
    """The file hangs together, but its counts do not follow from what was measured, or what was is no level."""
    path = made(tmp_path, "areas in levels")
    tamper(path, edit=edit)

    assert not read_or_refused(lambda: read(path)) or not verify_file(path).ok


def test_very_many_levels_are_refused_or_read_in_time(tmp_path: Path) -> None:
    """Each the same areas as the one below: a small file could ask for much work."""
    path = made(tmp_path, "areas in levels")
    levels = [{"name": f"level {number}", "names": list("abcd"), "parts": [1, 1, 1, 1]} for number in range(3000)]
    tamper(path, edit=in_structure(levels=levels))

    assert use(path) in (True, False)
