"""The comparison with peers: its harness on a small city, and the workers that run in the environment of the tests."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.peers.city import DOMAIN, City
from benchmarks.peers.environment import requirements
from benchmarks.peers.peer import PEERS, Peer
from benchmarks.peers.report import leads, page, write
from benchmarks.peers.result import DROPPED, Result, bad_rows
from benchmarks.peers.run import WORKERS, bounds, grid_counts, run
from hushgrid.geometry.grid import Grid

PYTHON = Path(sys.executable)
HERE = {"numpy_laplace.py", "opendp_vector.py", "duckdb_group_by.py", "hushgrid_publish.py"}
NEARLY_NO_NOISE = 50.0  # epsilon; a draw other than zero is rarer than 1e-20

here = [peer for peer in PEERS if peer.worker[0] in HERE]
grids = [peer for peer in here if not peer.ours]


def by_name(peers):
    return {"argvalues": peers, "ids": [peer.name for peer in peers]}


@pytest.fixture(scope="module")
def city(tmp_path_factory):
    return City(size=5000, epsilon=0.1, folder=tmp_path_factory.mktemp("city"))


def all_cells(side):
    return Grid(domain=DOMAIN, rows=side, columns=side).bounds()


def plain_counts(path, side):
    """Counts of each cell, point by point."""
    counts = np.zeros((side, side))
    for lon, lat in zip(*(column.to_pylist() for column in pq.read_table(path).columns), strict=True):
        column = min(int((lon - DOMAIN.west) / DOMAIN.width * side), side - 1)
        counts[min(int((lat - DOMAIN.south) / DOMAIN.height * side), side - 1), column] += 1
    return counts


def test_some_peers_run_here():
    """Guard: the lists that tests run over are not empty."""
    assert len(grids) == 3
    assert len(here) > len(grids)


@pytest.mark.parametrize("peer", **by_name(grids))
def test_without_noise_a_worker_releases_the_counts(peer, city):
    """With a budget that needs no noise, the cells are those that a loop over the points counts."""
    side = 7
    released = run(peer, PYTHON, city.points, all_cells(side), side=side, epsilon=NEARLY_NO_NOISE)

    assert np.abs(released.estimates - plain_counts(city.points, side).ravel()).max() < 1


@pytest.mark.parametrize("peer", **by_name(grids))
def test_noise_of_a_worker_has_the_scale_of_the_budget(peer, tmp_path):
    """On a file without points, the cells are noise whose mean size is 1 / epsilon, and not 10 % off."""
    side, epsilon = 200, 0.1
    pq.write_table(pa.table({"lon": pa.array([], pa.float64()), "lat": pa.array([], pa.float64())}), tmp_path / "empty")
    released = run(peer, PYTHON, tmp_path / "empty", all_cells(side), side=side, epsilon=epsilon)
    size = np.abs(released.estimates).mean() * epsilon

    # The mean of so many sizes is off by half a per cent; six times that never happens.
    assert abs(size - 1) < 6 / side
    assert abs(size - 1.1) > 6 / side
    assert abs(size - 0.9) > 6 / side


@pytest.mark.parametrize("peer", **by_name([peer for peer in here if peer.worker[0] != "duckdb_group_by.py"][-3:]))
def test_bad_rows_are_dropped(peer, tmp_path):
    """Rows that are null, not a number, infinite or outside do not count, and points on the upper edges do."""
    assert bad_rows(peer, PYTHON, tmp_path) == DROPPED


def test_a_worker_that_fails_or_miscounts_is_noticed(tmp_path):
    """Negative control: an error and a wrong count are told apart from a good one."""
    figures = {"seconds": 1, "processor_seconds": 1, "again_seconds": 1, "again_processor_seconds": 1, "peak_bytes": 1}
    (tmp_path / "failing.py").write_text("raise ValueError\n")
    (tmp_path / "miscounting.py").write_text(
        "import json, sys\n"
        "import numpy as np\n"
        "np.save(json.loads(sys.argv[1])['released'], np.full((4, 4), 66))\n"
        f"print({json.dumps({**figures, 'version': '1'})!r})\n"
    )
    failing, miscounting = (
        replace(grids[0], worker=(str(tmp_path / name),)) for name in ("failing.py", "miscounting.py")
    )

    assert bad_rows(failing, PYTHON, tmp_path) == "one of them is an error"
    assert bad_rows(miscounting, PYTHON, tmp_path) == "miscounted"


def test_hushgrid_is_asked_through_its_file(city):
    """The release of hushgrid, read back, answers the workload about as well as epsilon lets it."""
    ours = next(peer for peer in here if peer.ours)
    done = run(ours, PYTHON, city.points, city.rects, side=city.side, epsilon=1.0)
    relative, absolute = city.errors(done.estimates)

    assert 0 < relative < 1
    assert 0 < absolute < 0.05 * city.size
    assert done.peak_bytes > 50e6
    assert done.processor_seconds > 0


def test_true_answers_have_no_error(city):
    """The workload asked of the points themselves."""
    assert city.errors(city.true_counts.astype(float)) == (0, 0)
    assert city.rects.shape == (1200, 4)


def test_a_grid_answers_by_the_share_of_each_cell():
    """Answers equal a loop over all cells and rectangles."""
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(3, 4))
    low = rng.uniform((DOMAIN.west, DOMAIN.south), (DOMAIN.east, DOMAIN.north), (20, 2))
    high = low + rng.random((20, 2)) * ((DOMAIN.east, DOMAIN.north) - low)
    rects = np.vstack([np.hstack([low, high]), list(bounds().values())])
    expected = []
    for west, south, east, north in rects:
        total = 0.0
        for count, cell in zip(cells.ravel(), Grid(domain=DOMAIN, rows=3, columns=4).bounds(), strict=True):
            width = max(0.0, min(east, cell[2]) - max(west, cell[0]))
            height = max(0.0, min(north, cell[3]) - max(south, cell[1]))
            total += count * width * height / ((cell[2] - cell[0]) * (cell[3] - cell[1]))
        expected.append(total)

    assert np.allclose(grid_counts(cells, rects), expected)


def result(name, *, ours=False, **figures):
    plain = {"seconds": 1.0, "processor_seconds": 1.0, "again_seconds": 1.0, "again_processor_seconds": 1.0}
    errors = {"megabytes": 100.0, "relative_error": 0.1, "absolute_error": 10.0}
    words = {"exact_noise": "yes", "size": "private", "bad_rows": DROPPED, "version": "1", "runs": 3}
    return Result(name=name, ours=ours, **{**plain, **errors, **words, **figures})


def test_a_lead_is_a_clear_one():
    """Figures within 5 %, errors within two standard errors, are a tie; words count if they are the wanted ones."""
    ours = result("ours", ours=True)

    assert result("a hair faster", seconds=0.96).ahead_of(ours) == []
    assert result("a lucky draw", absolute_error=8.0, runs=1).ahead_of(ours) == []
    assert result("three draws", absolute_error=8.0, runs=3).ahead_of(ours) == ["absolute error"]
    assert result("faster", seconds=0.9, megabytes=120.0).ahead_of(ours) == ["seconds"]
    assert ours.ahead_of(result("floats", exact_noise="no", absolute_error=14.0)) == ["absolute error", "exact noise"]


def test_the_page_names_everyone_and_their_leads(city, tmp_path):
    """Every peer has a row in the table, those that are not ours one in the leads; the JSON holds the same figures."""
    results = [result("ours", ours=True), result("small", megabytes=10.0), result("slow", seconds=9.0)]
    write(results, city, tmp_path, load=0.5)
    text = (tmp_path / "peers.md").read_text()

    assert text == page(results, city, 0.5)
    assert max(map(len, text.split("|")[0].splitlines())) <= 120
    assert "| small 1 | 1.0 (1.0) | 1.0 (1.0) | 10 |" in text
    assert "| small | memory |" in leads(results)
    assert "| slow | in nothing |" in leads(results)
    assert [row["megabytes"] for row in json.loads((tmp_path / "peers.json").read_text())["peers"]] == [100, 10, 100]


@pytest.mark.parametrize("peer", **by_name(PEERS))
def test_every_peer_has_a_worker_and_a_lock(peer: Peer):
    """Scripts exist, locks have hashes, and no address."""
    text = requirements(peer.environment)

    assert (WORKERS / peer.worker[0]).is_file()
    assert text.count("--hash=sha256:") >= text.count("==")
    assert "//" not in text
