"""What a reader of a ledger sees of a run: values that the claim covers, and nothing that can be held against data."""

import sqlite3
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from shapely import box

import hushgrid as hg
from hushgrid.geometry.tree import LEFT, RIGHT, Tree
from hushgrid.ledger.ledger import open_ledger
from hushgrid.methods import METHODS
from hushgrid.methods.dawa import Dawa, merged_squares, pruned
from hushgrid.methods.privtree import PrivTree
from hushgrid.methods.pyramids import pyramid
from hushgrid.methods.trees import candidate_cells
from hushgrid.privacy.bits import SystemBits
from hushgrid.privacy.budget import Budget
from hushgrid.release.request import ReleaseRequest
from tests.ledger.places import reserved

Values = list[NDArray[np.int64]]

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)
POINTS = np.random.default_rng(5).beta(2, 5, (3000, 2))
USERS = np.random.default_rng(6).integers(0, 400, 3000)
MADE = {"identity": METHODS["identity"](side=16)}
CUTS = {"kd": None, "kd-hybrid": None, "balanced": (0, 1)}  # axes of each cut; None is one axis, in turn
RECORD: dict[str, Any] = {}
USER = {"user": USERS, "max_per_user": 3}
LEVELS = {
    "records": RECORD,
    "users": USER,
    "users, a private total": {**USER, "scale_to_total": "private"},
}
HALVES = [box(0, 0, 0.5, 1), box(0.5, 0, 1, 1)]


class Notebook:
    """A journal in memory."""

    def __init__(self) -> None:
        self.kept: Values = []

    def recall(self, number: int, mark: str) -> bytes | None:
        """Nothing: every run is new."""
        assert (number, len(mark)) == (len(self.kept) + 1, 64)

    def record(self, number: int, mark: str, payload: bytes) -> None:
        """Keep a value."""
        self.kept.append(np.frombuffer(payload, "<i8"))


def run(method: Any, **options: Any) -> tuple[Values, hg.Synopsis]:
    """What a release journals, and the release."""
    notebook = Notebook()
    given = {"domain": DOMAIN, "epsilon": 2, "method": method, "calibrate": False, **options}
    job = ReleaseRequest.of(**given)
    return notebook.kept, job.release(job.open(POINTS), bits=SystemBits(), journal=notebook)


def unexplained(kept: Values, synopsis: hg.Synopsis, *, name: str, users: bool) -> Values:
    """Journalled values that neither the release shows nor the system drew.

    Explained are 32 bytes for the choice of users' records, which come first; and then values that all stand in the
    release as measurements, each as often as there, or that are its size, its total, its decisions or its cuts. DAWA's
    noisy costs are released by its proof and not kept in the file: the cells of its release follow from them.
    """
    kept = without_costs(kept, synopsis) if name == "dawa" else kept
    left = Counter(measured_values(synopsis))
    structure = [*released_structure(synopsis, name)]
    strange = []
    for number, values in enumerate(kept):
        if users and number == 0:
            assert values.nbytes == 32
            continue
        wanted = Counter(values.tolist())
        if structure and np.array_equal(values, structure[0]):
            structure.pop(0)
        elif not wanted - left:
            left -= wanted
        else:
            strange.append(values)
    assert not structure  # the release's decisions were journalled, too
    return strange


def measured_values(synopsis: hg.Synopsis) -> list[int]:
    """Every integer that a release was given by noise."""
    measurements, wavelet = synopsis.measurements, synopsis.measurements.wavelet
    parts = [measurements.leaves, measurements.region_values, *([] if wavelet is None else [wavelet.coefficients])]
    values = [value for part in parts for value in part.values[part.rate_index >= 0].tolist()]
    values += [] if synopsis.claim.size is None else [synopsis.claim.size.value]
    return values + ([] if synopsis.claim.total is None else [synopsis.claim.total.value])


def released_structure(synopsis: hg.Synopsis, name: str) -> Values:
    """Decisions and choices of a method, level by level, as the cells of its release tell them."""
    tree = synopsis.partition
    if name not in {"privtree", *CUTS}:
        return []
    assert isinstance(tree, Tree)
    levels = [np.arange(first, stop) for first, stop in pairwise(tree.levels)]
    if name == "privtree":
        return [(tree.child_counts[nodes] > 0).astype(np.int64) for nodes in levels]
    cuts = [chosen_lines(tree, nodes, CUTS[name] or (level % 2,)) for level, nodes in enumerate(levels)]
    return [level for level in cuts if level.size]


def without_costs(kept: Values, synopsis: hg.Synopsis) -> Values:
    """The journal of DAWA without its costs, once they are shown to make the very cells of the release."""
    tree = synopsis.partition
    assert isinstance(tree, Tree)
    height = tree.lattice.columns.bit_length() - 1
    sizes = [4 ** (height - above) for above in range(1, Dawa.levels + 1)]
    (start,) = (at for at in range(len(kept)) if [len(part) for part in kept[at : at + len(sizes)]] == sizes)
    (price,) = (1 / float(spend.epsilon) for spend in synopsis.claim.spends if spend.purpose == "counts")
    merged = merged_squares(kept[start : start + len(sizes)], height, price=price)
    whole = pyramid(DOMAIN, [2**level for level in range(height + 1)])
    assert pruned(whole, merged, np.zeros(4**height, np.int64))[0] == tree
    return kept[:start] + kept[start + len(sizes) :]


def chosen_lines(tree: Tree, nodes: NDArray[np.int64], axes: tuple[int, ...]) -> NDArray[np.int64]:
    """The candidate that each node of a level was cut at, by trying all of them."""
    cut = nodes[tree.child_counts[nodes] == 2]
    cells = candidate_cells(tree.boxes[cut], axes)
    lines = cells.max(initial=2) - 1
    chosen = []
    for node, strips in zip(cut, cells, strict=True):
        axis = int(tree.splits[node, 1] == 2)
        low, high = tree.boxes[node][[LEFT + axis, RIGHT + axis]]
        place = tree.boxes[tree.first_children[node]][RIGHT + axis]
        (line,) = (at for at in range(1, strips[axis]) if low + (high - low) * at // strips[axis] == place)
        chosen.append(axes.index(axis) * lines + line - 1)
    return np.array(chosen, np.int64)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", METHODS)
def test_a_journal_holds_what_the_release_shows(name: str, level: str) -> None:
    """Every payload of every method, decoded: a measurement of the file, a decision that its cells show, or a key."""
    kept, synopsis = run(MADE.get(name, name), **LEVELS[level])

    assert len(kept) > (level != "records")
    assert unexplained(kept, synopsis, name=name, users=level != "records") == []


@pytest.mark.parametrize(
    "given",
    [
        {"method": hg.Areas(HALVES)},
        {"method": hg.Areas(HALVES), **USER},
        {"method": hg.UniformGrid(side=8), **USER, "distinct": True},
        {"method": hg.Areas(HALVES), **USER, "distinct": True},
    ],
    ids=["areas", "areas of users", "distinct users", "distinct users of areas"],
)
def test_other_ways_to_count_journal_no_more(given: dict[str, Any]) -> None:
    """Areas and distinct users, too."""
    kept, synopsis = run(**given)

    assert unexplained(kept, synopsis, name="", users="user" in given) == []


def test_noisy_biased_counts_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: PrivTree as it once was, which journalled what its proof does not cover."""

    def once(budget: Budget, true_values: NDArray[np.int64], rate: Fraction) -> NDArray[np.bool_]:
        return budget.perturb(true_values, rate) > 0

    monkeypatch.setattr(Budget, "decide", once)
    kept, synopsis = run(PrivTree())

    with pytest.raises(AssertionError):
        assert unexplained(kept, synopsis, name="privtree", users=False) == []


def test_other_data_with_the_same_journal_is_the_same_release() -> None:
    """The journal is all that a release of PrivTree takes from the points: decisions and counts."""

    class Replay(Notebook):
        def __init__(self, kept: Values) -> None:
            self.kept = kept

        def recall(self, number: int, mark: str) -> bytes | None:
            return self.kept[number - 1].tobytes()

    kept, synopsis = run("privtree")
    job = ReleaseRequest.of(domain=DOMAIN, epsilon=2, method="privtree", calibrate=False)
    again = job.release(job.open(1 - POINTS[:7]), bits=SystemBits(), journal=Replay(kept))

    np.testing.assert_array_equal(again.counts, synopsis.counts)
    np.testing.assert_array_equal(again.partition.bounds(), synopsis.partition.bounds())


@pytest.mark.parametrize("end", ["commit", "abandon"])
def test_nothing_of_a_journal_is_left_in_the_file(tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A payload is overwritten when its entry ends, long or short; SQLite may leave it in pages that it frees."""
    place = tmp_path / "trips.ledger"
    connect = sqlite3.connect

    def forgetful(*given: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*given, **options)
        connection.execute("PRAGMA secure_delete = OFF")  # as SQLite is built almost everywhere
        return connection

    monkeypatch.setattr(sqlite3, "connect", forgetful)
    payloads = [np.random.default_rng(size).bytes(size) for size in (40, 5000, 300_000)]
    with open_ledger(place, create=True) as ledger:
        ledger.add_dataset("trips", budget=3, unit="user")
        reservation = reserved(ledger)
        for number, payload in enumerate(payloads, start=1):
            reservation.journal.record(number, "cells", payload)
        during = place.read_bytes()
        if end == "commit":
            release = tmp_path / "release"
            release.write_bytes(b"noisy")
            with release.open("rb") as content:
                reservation.commit(content)
        else:
            reservation.abandon("a reason")

    after = place.read_bytes()
    assert all(payload[:32] in during for payload in payloads)
    for payload in payloads:
        assert not any(payload[first : first + 32] in after for first in range(0, len(payload) - 32, 500))
