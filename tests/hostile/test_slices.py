"""Files of slices from strangers: read, verified, described, asked and drawn, or refused in one line."""

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import hushgrid
from hushgrid.errors import SynopsisFileError
from hushgrid.slices.slices import Slices
from tests.hostile.conftest import Tried
from tests.hostile.outcomes import STRANGE, command, mutants, read_or_refused
from tests.hostile.test_synopsis import places, replaced
from tests.slices import PARTITIONS, some_slices
from tests.tampering import tamper


@cache
def content(kind: str) -> bytes:
    """The bytes of a few slices."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.dp.parquet"
        some_slices(kind).save(path)
        return path.read_bytes()


def made(folder: Path, kind: str = "grid") -> Path:
    """A few slices in a file."""
    path = folder / "x.dp.parquet"
    path.write_bytes(content(kind))
    return path


def use(path: Path) -> bool:
    """Read and verify; whatever can be read is asked, described and drawn, too."""
    verified = read_or_refused(lambda: hushgrid.verify(path))
    found: list[Any] = []
    if not read_or_refused(lambda: found.append(hushgrid.read(path))):
        return False
    assert verified
    for options in ([], ["--json"]):
        command("describe", path, *options)
        command("query", path, "--rect", "0,0,0.5,1", *options)
        command("query", path, "--rect", "0,0,0.5,1", "--each", *options)
    if isinstance(found[0], Slices):
        command("map", path, "--slice", found[0].names[0], "-o", path.with_suffix(".html"), "--overwrite")
    command("export", path, "-o", path.with_suffix(".csv"), "--overwrite")
    command("sample", path, "-n", "5", "-o", path.with_suffix(".geojson"), "--overwrite")
    return True


@pytest.mark.parametrize("kind", PARTITIONS)
def test_mutated_files(kind: str, tmp_path: Path, tried: Tried) -> None:
    """Bytes flipped, cut out, doubled and overwritten by extreme numbers, half of them in the footer."""
    path = tmp_path / "x.dp.parquet"
    for mutant in mutants(content(kind), 100, seed=3):
        path.write_bytes(mutant)
        with tried.one():
            read_or_refused(lambda: hushgrid.verify(path))
            read_or_refused(lambda: hushgrid.read(path))
    tried.at_least(100)


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
    """A value of the footer replaced by every kind of number, text, list and object; one case of 151."""
    strange_footers(kind, 151, tmp_path, tried)
    tried.at_least(20)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PARTITIONS)
def test_many_strange_values_in_the_footer(kind: str, tmp_path: Path, tried: Tried) -> None:
    """More of them; one case of 11."""
    strange_footers(kind, 11, tmp_path, tried)
    tried.at_least(200)


@pytest.mark.parametrize("strange", STRANGE, ids=repr)
def test_strange_slices(strange: Any, tmp_path: Path, tried: Tried) -> None:
    """What the slices are, replaced by something else, is refused."""
    for place in (("by",), ("by", "axes"), ("by", "axes", 0), ("by", "axes", 0, "values"), ("structures",)):
        path = made(tmp_path)
        tamper(path, edit=replaced(place, strange))
        with tried.one():
            assert not use(path)
    tried.at_least(5)


EDITS: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "a slice is missing": (lambda release: release["slices"].pop(), "it has 2 slices where 3 are declared"),
    "the total is missing": (lambda release: release.pop("total"), "its slices have 18 cells, the file 24 rows"),
    "a structure that is not there": (
        lambda release: release["slices"][1].update(structure=1),
        "slices[1].structure must be between 0 and 0",
    ),
    "a structure that nobody has": (
        lambda release: release["structures"].append(release["structures"][0]),
        "a structure that no slice was counted on",
    ),
    "an unknown key": (lambda release: release["slices"][1].update(colour="red"), "slices[1].colour"),
    "a slice twice": (
        lambda release: release["by"]["axes"][0].update(values=["car", "car", "bus"]),
        "its slices cannot be told",
    ),
    "other names than the rows have": (
        lambda release: release["by"]["axes"][0].update(values=["car", "tram", "bus"]),
        "it has rows of a slice that it does not declare",
    ),
    "an unknown schema": (lambda release: release.update(schema=3), "this hushgrid reads schema 1 and 2"),
    "other units": (
        lambda release: release["slices"][1]["claim"].update(unit="user", max_per_unit=2),
        "slice 'bike' differs",
    ),
}


@pytest.mark.parametrize(("edit", "complaint"), EDITS.values(), ids=EDITS)
def test_footers_that_do_not_fit(edit: Callable[[dict[str, Any]], None], complaint: str, tmp_path: Path) -> None:
    """Each is refused, and the complaint says where."""
    path = made(tmp_path)
    tamper(path, edit=edit)
    with pytest.raises(SynopsisFileError) as error:
        hushgrid.read(path)
    assert complaint in str(error.value)


def test_rows_of_another_slice(tmp_path: Path) -> None:
    """A row of a slice, or of the total, that is marked as one of another."""
    for row, name in ((0, "bike"), (3, None), (20, "car")):
        path = made(tmp_path)
        names = pq.read_table(path)["slice"].to_pylist()
        names[row] = name
        tamper(path, columns={"slice": names})
        with pytest.raises(SynopsisFileError, match=r"has [57] rows where 6 are declared"):
            hushgrid.read(path)


def test_strange_counts(tmp_path: Path) -> None:
    """NaN and infinities are refused in whichever slice."""
    for row in (0, 8, 20):
        for strange in (np.nan, np.inf, 1.7e308):
            path = made(tmp_path)
            counts = pq.read_table(path)["count"].to_numpy().copy()
            counts[row] = strange
            tamper(path, columns={"count": counts})
            with pytest.raises(SynopsisFileError, match="not a finite number"):
                hushgrid.read(path)
