"""Wherever threads are made there are as many as HUSHGRID_THREADS says."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hushgrid
import hushgrid as hg
from hushgrid import compiled as threads
from hushgrid.audit import audit
from hushgrid.counting import cell_loops as curve
from hushgrid.counting import counter as counters
from hushgrid.counting import memory
from hushgrid.counting.bounded import bounded_points
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.geometry.quadrants import all_cells
from hushgrid.inference.evidence import Evidence
from hushgrid.inference.inferences import INFERENCES
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.release import warm_up
from tests.plain import UNIT_SQUARE

MAKERS = (threads, counters, curve)  # the modules that start threads
POINTS = np.random.default_rng(0).random((40_000, 2))
GRID = Grid(domain=UNIT_SQUARE, rows=8, columns=8)
RECTS = np.sort(np.random.default_rng(1).random((20_000, 2, 2)), axis=1).reshape(-1, 4)


@pytest.fixture
def workers(monkeypatch):
    """The number of workers of every pool that is made."""
    made = []

    class Spy(ThreadPoolExecutor):
        def __init__(self, max_workers, **named):
            made.append(max_workers)
            super().__init__(max_workers, **named)

    for module in MAKERS:
        monkeypatch.setattr(module, "ThreadPoolExecutor", Spy)
    monkeypatch.setattr(memory, "PART_ROWS", 5000)
    threads.pool_of.cache_clear()
    yield made
    threads.pool_of.cache_clear()


def counter(points=POINTS):
    return PointCounter(UNIT_SQUARE, open_points(points, crs=UNIT_SQUARE.crs))


def released(method):
    return hg.METHODS[method]().release(counter(), Budget(Fraction(1), bits=simulation_rng(0)))


def count_in_memory(folder):
    return lambda: counter().count(GRID)


def count_nested(folder):
    return lambda: counter().count(NestedGrid(grid=GRID, sides=np.full(GRID.cells, 2)))


def decode(folder):
    pq.write_table(pa.table({"lon": POINTS[:, 0], "lat": POINTS[:, 1]}), folder / "a.parquet", row_group_size=5000)
    return lambda: counter(folder / "a.parquet").count(GRID)


def decode_folder(folder):
    decode(folder)
    return lambda: counter(folder).count(GRID)


def bound_users(folder):
    def run():
        source = open_points(POINTS, crs=UNIT_SQUARE.crs, user=np.arange(len(POINTS)) % 1000)
        with bounded_points(source, KeyedRule(key=bytes(32), domain=UNIT_SQUARE, most=3)):
            pass

    return run


def sort_along_the_curve(folder):
    return lambda: counter().count(all_cells(UNIT_SQUARE, 3))


def infer(name):
    def prepare(folder):
        synopsis = released("staq")
        return lambda: INFERENCES[name].counts(Evidence(synopsis.partition, synopsis.measurements))

    return prepare


def answer(method):
    def prepare(folder):
        synopsis = released(method)
        return lambda: synopsis.count(RECTS)

    return prepare


def sample(folder):
    synopsis = released("ug")
    return lambda: synopsis.sample(300_000, seed=1)


def ask_polygons(folder):
    shapely = pytest.importorskip("shapely")
    synopsis = released("ug")
    return lambda: synopsis.count_polygons(shapely.box(*RECTS[:400].T))


WORK = {
    "counting in memory": count_in_memory,
    "counting on a nested grid": count_nested,
    "decoding Parquet": decode,
    "decoding a folder": decode_folder,
    "bounding users": bound_users,
    "codes of the curve": sort_along_the_curve,
    "belief propagation": infer("belief"),
    "queries of a grid": answer("ug"),
    "queries of an adaptive grid": answer("ag"),
    "queries of a tree": answer("quadtree"),
    "queries of STAQ": answer("staq"),
    "synthetic points": sample,
    "polygons": ask_polygons,
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_threads_are_as_many_as_asked_for(work, workers, tmp_path, monkeypatch):
    """Three make a pool of three and none larger, and one makes no pool of more than one."""
    monkeypatch.setenv("HUSHGRID_THREADS", "1")
    run = work(tmp_path)
    workers.clear()
    run()
    assert set(workers) <= {1}

    monkeypatch.setenv("HUSHGRID_THREADS", "3")
    workers.clear()
    run()
    assert max(workers) == 3


@pytest.mark.parametrize("asked", ["1", "3"])
def test_each_item_is_worked_on_once_and_none_after_an_error(asked, monkeypatch):
    """An error comes out, and items that no thread has begun are left alone."""
    monkeypatch.setenv("HUSHGRID_THREADS", asked)
    done = []
    threads.run_each(done.append, range(50))
    assert sorted(done) == list(range(50))

    begun = []

    def fail(item):
        begun.append(item)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        threads.run_each(fail, range(50))
    assert 1 <= len(begun) <= int(asked)


# Publishes to a ledger, asks and checks; then names the threads of the process that Python did not start.
ALL_COMMANDS = """
import sys, threading
from pathlib import Path
from click.testing import CliRunner
from hushgrid.cli import main

def foreign():
    names = [task.read_text().strip() for task in Path("/proc/self/task").glob("*/comm")]
    return len([name for name in names if "malloc" not in name]) - threading.active_count()

import pyarrow.parquet, shapely
before = foreign()
for line in Path(sys.argv[1]).read_text().splitlines():
    done = CliRunner().invoke(main, line.split())
    assert done.exit_code == 0, (line, done.output)
    assert foreign() == before, line
"""
COMMANDS = """
ledger init --dataset trips --budget 5 --unit record
publish a.parquet --domain 0,0,1,1 --epsilon 1 --dataset trips -o a.dp.parquet --method ag
publish a.parquet --domain 0,0,1,1 --epsilon 1 --dataset trips -o again.dp.parquet --method ag
publish a.parquet --domain 0,0,1,1 --epsilon 1 -o users.dp.parquet --user-column who --max-per-user 1 --no-calibrate
query a.dp.parquet --rect 0,0,0.5,0.5
verify a.dp.parquet
export a.dp.parquet --to geojson -o a.geojson
sample a.dp.parquet -n 1000 -o points.parquet
publish a.parquet --domain 0,0,1,1 --epsilon 1 -o duck.dp.parquet --engine duckdb --no-calibrate
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_no_command_leaves_threads_of_others_running(tmp_path):
    """A thread of Arrow's that lets go of a Python object while Python ends aborts the process."""
    decode(tmp_path)
    table = pq.read_table(tmp_path / "a.parquet")
    pq.write_table(table.append_column("who", pa.array(np.arange(len(table)) % 1000)), tmp_path / "a.parquet")
    (tmp_path / "commands").write_text(COMMANDS.strip())
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "HUSHGRID_THREADS": "2"}

    done = subprocess.run(
        [sys.executable, "-c", ALL_COMMANDS, "commands"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# Reads a release that is in memory, in one process after the other, each of which ends at once.
SHORT_RUNS = """
import os, sys
from pathlib import Path
from hushgrid.files.release import parse_release

content = Path(sys.argv[1]).read_bytes()
codes = set()
for _ in range(int(sys.argv[2])):
    child = os.fork()
    if not child:
        kept = parse_release(content, name="the release")
        sys.exit()
    codes.add(os.waitpid(child, 0)[1])
assert codes == {0}, codes
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="starts runs by fork, which is quick")
def test_short_runs_do_not_abort_at_their_end(tmp_path):
    """In one of some hundred runs, a thread of Arrow's was still busy when Python ended."""
    released("ug").save(tmp_path / "a.dp.parquet", allow_simulation=True)
    command = [sys.executable, "-c", SHORT_RUNS, str(tmp_path / "a.dp.parquet"), "100"]
    done = subprocess.run(command, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


def test_no_other_module_makes_threads():
    """Only these modules start threads, and Arrow is not left to use its own, as it would for whole files."""
    root = Path(hushgrid.__file__).parent
    starts = re.compile(
        r"ThreadPoolExecutor\(|ProcessPoolExecutor\(|\bThread\(|use_threads=(?!False)|pq\.read_table\(|to_pandas\(\)"
    )
    found = {path for path in root.rglob("*.py") if starts.search(path.read_text())}

    # The audit shares its work among processes, and the process that compiles ahead has a thread that ends it.
    assert found == {Path(module.__file__) for module in (*MAKERS, audit, warm_up)}


def test_a_loop_inside_a_loop_ends(monkeypatch):
    """The inner one runs on the thread of the outer one, which would wait for a thread forever."""
    monkeypatch.setenv("HUSHGRID_THREADS", "2")
    done = np.zeros((8, 8), int)

    def outer(first, stop):
        for row in range(first, stop):
            threads.run_in_slices(lambda begin, end, row=row: done[row, begin:end].__iadd__(1), 8, smallest=1)

    threads.run_in_slices(outer, 8, smallest=1)
    assert done.tolist() == [[1] * 8] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_makes_its_own_threads(monkeypatch):
    """Those of its parent are not there."""
    monkeypatch.setenv("HUSHGRID_THREADS", "2")
    threads.run_in_slices(lambda first, stop: None, 8, smallest=1)
    code = "import os, sys; from hushgrid.compiled import run_in_slices as run; work = lambda first, stop: None; "
    code += "run(work, 8, smallest=1); child = os.fork(); run(work, 8, smallest=1); "
    code += "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if child else 0)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
