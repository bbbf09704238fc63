"""The page of slices: its figures, and what its script answers under node."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hushgrid as hg
from hushgrid.export.picture import Picture
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.web.figures import FINEST, Payload
from hushgrid.web.page import map_page
from hushgrid.web.sliced import AllCells, AllTogether, slice_figures
from tests.plain import UNIT_SQUARE
from tests.priors import clustered
from tests.slices import SQUARE, some_slices
from tests.web.districts import district_slices, districts_under_node
from tests.web.pages import MODULES, NODE, block, facts_of, needs_node

SCRIPT = Path(__file__).with_name("slices.mjs")
RECTS = [(0, 0, 1, 1), (0.1, 0.2, 0.7, 0.9), (0.05, 0.03, 0.4, 0.31), (0.5, 0.5, 2, 2)]


def answers_under_node(slices, choices):
    """What the script of the page says: estimate, low and high, shape (choices, rects, 3)."""
    page = map_page(slices)
    job = {"facts": facts_of(page), "payload": block(page, "payload"), "rects": RECTS, "choices": choices}
    done = subprocess.run([NODE, SCRIPT, MODULES], input=json.dumps(job), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return np.array(json.loads(done.stdout))


def as_rows(answer):
    return np.stack([answer.estimate, answer.low, answer.high], axis=-1)


@needs_node
@pytest.mark.parametrize("total", [True, False])
@pytest.mark.parametrize("kind", ["grid", "nested", "tree"])
def test_every_slice_and_their_sum_are_answered_as_by_python(kind, total):
    slices = some_slices(kind, total=total)
    *found, together = answers_under_node(slices, [[0], [1], [2], [-1]])

    expected = as_rows(slices.answer(RECTS))
    assert np.array(found) == pytest.approx(expected, abs=1e-6, rel=1e-9)
    assert together == pytest.approx(as_rows(slices.answer(RECTS, slices=slices.names)), abs=1e-6, rel=1e-9)


@needs_node
def test_sums_along_one_of_two_axes_are_answered_as_by_python():
    by = hg.By.product(hg.By("kind", values=["car", "bike"]), hg.By.time("at", "weekday"))
    parts = [each for _, each in some_slices("nested").all_parts()]
    slices = hg.Slices(by=by, parts={name: parts[number % 3] for number, name in enumerate(by.names)})
    bikes, sundays = answers_under_node(slices, [[1, -1], [-1, 6]])

    names = {"bikes": [f"bike / {day}" for day in by.axes[1].names], "sundays": ["car / Sun", "bike / Sun"]}
    assert bikes == pytest.approx(as_rows(slices.answer(RECTS, slices=names["bikes"])), abs=1e-6, rel=1e-9)
    assert sundays == pytest.approx(as_rows(slices.answer(RECTS, slices=names["sundays"])), abs=1e-6, rel=1e-9)


def by_belief(synopsis):
    """The same measurements, with the inference that STAQ has."""
    return Synopsis.infer(
        synopsis.partition,
        synopsis.measurements,
        inference="belief-2",
        claim=synopsis.claim,
        method=synopsis.method,
    )


@needs_node
def test_sums_of_trees_by_belief_have_the_intervals_of_python():
    """Some of their errors go the same way in all slices; without that the intervals would be narrower."""
    trees = some_slices("tree", total=False)
    slices = hg.Slices(by=trees.by, parts={name: by_belief(each) for name, each in trees.items()})
    (found,) = answers_under_node(slices, [[-1]])

    assert found == pytest.approx(as_rows(slices.answer(RECTS, slices=slices.names)), abs=1e-6, rel=1e-9)


@pytest.fixture(scope="module")
def districts():
    return district_slices()


@needs_node
@pytest.mark.parametrize("chosen", [[1, 3], [0, -1], [-1, 6], [-1, -1]], ids=str)
def test_areas_of_slices_and_their_sums_are_those_of_python(districts, chosen):
    """On every level, with the areas of the file in their order."""
    kinds, days = (
        axis.names if number < 0 else [axis.names[number]]
        for axis, number in zip(districts.by.axes, chosen, strict=True)
    )
    names = [f"{kind} / {day}" for kind in kinds for day in days]
    found = districts_under_node(districts, chosen=chosen)

    for level in found["levels"]:
        expected = districts.table(level["name"], slices=names).to_pylist()
        assert [row["name"] for row in level["rows"]] == [row["name"] for row in expected]
        for column in ("estimate", "low", "high"):
            assert [row[column] for row in level["rows"]] == pytest.approx(
                [row[column] for row in expected], abs=1e-6, rel=1e-9
            )


@needs_node
def test_sums_of_areas_over_slices_are_those_of_python(districts):
    """All areas together, of each slice and of all slices."""
    everywhere = [[2, list(range(36))]]
    (one,) = districts_under_node(districts, chosen=[1, 6], sums=everywhere)["sums"]
    (together,) = districts_under_node(districts, chosen=[-1, -1], sums=everywhere)["sums"]

    last, whole = districts.totals(), districts.total_of_all()
    assert [one["estimate"], one["low"], one["high"]] == pytest.approx(as_rows(last)[-1], rel=1e-9)
    assert [together["estimate"], together["low"], together["high"]] == pytest.approx(as_rows(whole), rel=1e-9)


def test_slices_on_different_areas_have_no_map(districts):
    """They are not drawn on the areas of the first."""
    other = some_slices("areas")
    parts = dict(zip(other.names, other.values(), strict=True))
    parts["bike"] = some_slices("grid")["bike"]

    with pytest.raises(hg.HushgridError, match="no areas in common"):
        map_page(hg.Slices(by=other.by, parts=parts))


def test_the_page_says_what_the_slices_are():
    page = map_page(some_slices())

    (axis,) = facts_of(page)["slices"]["axes"]
    assert axis == {"label": "kind", "time": False, "names": ["car", "bike", "=bus"]}
    assert "By kind (car, bike and =bus; other values are not counted)." in page
    assert "exp(1)" in page  # the guarantee of all slices and the total together
    assert SQUARE.bounds == tuple(facts_of(page)["domain"])


@needs_node
def test_sums_of_slices_by_belief_are_answered_as_by_python():
    """Slices with a total that sharpened them: some errors of theirs are alike, and the total has its weight."""
    points = np.random.default_rng(2).beta(2, 5, (3000, 2))
    table = pa.table({"lon": points[:, 0], "lat": points[:, 1], "kind": np.resize(["car", "bike", "bus"], 3000)})
    by = hg.By("kind", values=["car", "bike", "bus"])
    slices = hg.publish(table, domain=SQUARE, epsilon=1, by=by, calibrate=False, rng=hg.simulation_rng(3))
    [together] = answers_under_node(slices, [[-1]])

    assert slices.total is not None
    assert 0 < slices.common.followed < 1
    assert 0 < slices.common.spread < 1
    assert together == pytest.approx(as_rows(slices.answer(RECTS, slices=slices.names)), abs=1e-3, rel=1e-6)


def test_all_slices_together_are_drawn_as_finely_as_they_are_known():
    """Two slices know more blocks than their total, which has hardly any budget; every point is drawn once."""
    points = clustered(20_000, seed=0)
    kinds = np.random.default_rng(1).choice(["a", "b"], len(points))
    table = pa.table({"lon": points[:, 0], "lat": points[:, 1], "kind": kinds})
    by = hg.By("kind", values=["a", "b"])
    options = {"epsilon": 1, "calibrate": False, "rng": hg.simulation_rng(1)}
    slices = hg.publish(table, domain=UNIT_SQUARE, by=by, **options)
    payload = Payload()
    slice_figures(slices, payload)
    blocks = {name: length for name, length, _ in payload.contents if name.endswith("pictureBlocks")}
    together, alone = (Picture.of(drawn, longest=FINEST).layers for drawn in (AllTogether(slices), slices.total))

    assert blocks["2.pictureBlocks"] == sum(len(layer.blocks) for layer in together)
    assert blocks["2.pictureBlocks"] > 2 * sum(len(layer.blocks) for layer in alone)
    assert sum(layer.masses.sum() for layer in together) == pytest.approx(slices.total_of_all().estimate)


def test_all_slices_together_are_drawn_as_finely_as_the_slice_that_lies_there():
    """The slice that has most cells has only large ones where another lies."""
    rng = np.random.default_rng(3)
    west = rng.uniform([0, 0], [0.5, 1], (30_000, 2))
    east = rng.normal([0.8, 0.3], 0.01, (4_000, 2))
    kinds = np.repeat(["west", "east"], [len(west), len(east)])
    points = np.concatenate([west, east])
    table = pa.table({"lon": points[:, 0], "lat": points[:, 1], "kind": kinds})
    by = hg.By("kind", values=["west", "east"])
    options = {"epsilon": 1, "calibrate": False, "rng": hg.simulation_rng(1)}
    slices = hg.publish(table, domain=UNIT_SQUARE, by=by, **options)
    painted = Picture.of(AllTogether(slices), longest=256).paint()
    rows, columns = (range(int(low * 256), int(high * 256)) for low, high in [(0.25, 0.36), (0.75, 0.86)])
    drawn = painted[np.ix_(rows, columns)].sum() / painted.sum()

    assert slices["west"].partition.cells > slices["east"].partition.cells
    assert drawn == pytest.approx(len(east) / len(points), rel=0.1)


def test_cells_of_several_partitions_follow_each_other():
    """In any piece of them that is asked for."""
    partitions = [part.partition for part in some_slices("nested").values()]
    together = AllCells(SQUARE, tuple(partitions))
    expected = np.concatenate([each.bounds() for each in partitions])
    pieces = [together.bounds(first, first + 5) for first in range(0, together.cells, 5)]

    assert together.cells == len(expected)
    assert np.array_equal(together.bounds(), expected)
    assert np.array_equal(np.concatenate(pieces), expected)
