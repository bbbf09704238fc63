"""Bounded points from every kind of source, in memory and on disk."""

import gc
import stat
import subprocess
import sys
import tempfile
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushgrid.counting.bounded import bounded_points
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.by_user import partitions
from hushgrid.counting.by_user.ids import Ids
from hushgrid.counting.by_user.partitions import UserPartitions
from hushgrid.counting.by_user.rows import UserRows
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.counting.users import IDS
from hushgrid.errors import HushgridError, InputError
from hushgrid.geometry.grid import Grid
from hushgrid.work import Step, Work
from tests.plain_users import kept as plainly_kept
from tests.unit.counting.tables import DOMAIN, some_points

KEY = bytes(range(1, 33))
ALL_IN_MEMORY, ON_DISK = 2**40, 15_000  # bytes, of some 40,000


def some_records(size=1500, seed=3):
    """Ids, a few of them missing, and points in and around the domain."""
    rng = np.random.default_rng(seed)
    points = some_points(size, seed)
    points[: size // 3] = points[: size // 3].round()
    numbers = np.minimum(rng.zipf(1.4, len(points)), 60)
    return [None if number % 11 == 10 else int(number) for number in numbers], points


def kept(points, *, most=4, missing="drop", memory_bytes=ALL_IN_MEMORY, **names):
    """Sorted points that are kept, and the capped total."""
    rule = KeyedRule(key=KEY, domain=DOMAIN, most=most, most_for_total=9)
    source = open_points(points, crs=DOMAIN.crs, **names)
    with bounded_points(source, rule, missing=missing, memory_bytes=memory_bytes) as bounded:
        found = [
            pair
            for part in bounded.source.parts()
            for block in part
            for pair in zip(block.longitudes.tolist(), block.latitudes.tolist(), strict=True)
        ]
        assert bounded.source.rows() == len(found)
    return sorted(found), bounded.true_capped_total


def expected(ids, points, *, most=4, missing="drop"):
    """The kept points and capped total by the plain version."""
    records = [
        (None if one is None else str(one).encode(), tuple(point))
        for one, point in zip(ids, points.tolist(), strict=True)
    ]
    return plainly_kept(records, key=KEY, domain=DOMAIN, most=most, missing=missing)


def csv_of(ids, points, path):
    """The records as CSV."""
    lines = [f"{'' if one is None else one},{x!r},{y!r}" for one, (x, y) in zip(ids, points.tolist(), strict=True)]
    path.write_text("\n".join(["who,lon,lat", *lines]))
    return path


def parquet_of(ids, points, path, **options):
    """The records as Parquet."""
    table = pa.table({"lon": points[:, 0], "lat": points[:, 1], "who": pa.array(ids, pa.int32())})
    pq.write_table(table, path, **options)
    return path


@pytest.mark.parametrize("memory_bytes", [ALL_IN_MEMORY, ON_DISK], ids=["in memory", "on disk"])
@pytest.mark.parametrize("missing", ["drop", "own"])
def test_every_source_keeps_what_the_plain_version_keeps(memory_bytes, missing, tmp_path):
    """Arrays, tables, Parquet in row groups and CSV, whatever fits in memory: the same points, bit for bit."""
    ids, points = some_records()
    wanted = expected(ids, points, missing=missing)
    forms = {
        "array": (points, {"user": ids}),
        "Parquet": (parquet_of(ids, points, tmp_path / "a.parquet", row_group_size=100), {"user": "who"}),
        "CSV": (csv_of(ids, points, tmp_path / "a.csv"), {"user": "who"}),
        "table": (pq.read_table(tmp_path / "a.parquet"), {"user": "who"}),
    }

    totals = set()
    for data, names in forms.values():
        found, total = kept(data, missing=missing, memory_bytes=memory_bytes, **names)
        assert found == wanted
        totals.add(total)
    assert len(totals) == 1


def test_the_order_of_rows_and_groups_changes_nothing(tmp_path):
    """Shuffled rows in row groups of another size."""
    ids, points = some_records()
    order = np.random.default_rng(4).permutation(len(ids))
    shuffled = parquet_of([ids[i] for i in order], points[order], tmp_path / "b.parquet", row_group_size=37)

    assert kept(shuffled, user="who", memory_bytes=10_000)[0] == expected(ids, points)


def test_a_user_all_over_the_file_keeps_as_few_as_any(tmp_path):
    """Ten thousand records of one user in a hundred row groups."""
    rng = np.random.default_rng(5)
    points = rng.uniform([-10, -5], [30, 15], (10_200, 2))
    ids = np.concatenate([np.zeros(10_000, int), np.arange(1, 201)])
    order = rng.permutation(len(ids))
    path = parquet_of(ids[order], points[order], tmp_path / "c.parquet", row_group_size=102)

    for memory_bytes in (ALL_IN_MEMORY, 50_000):
        found, total = kept(path, most=7, user="who", memory_bytes=memory_bytes)
        assert len(found) == 207
        assert total == 209


@pytest.mark.parametrize("memory_bytes", [ALL_IN_MEMORY, ON_DISK], ids=["in memory", "on disk"])
def test_nobody_has_an_id(memory_bytes):
    """All ids missing: nothing is kept, or everything in the domain."""
    points = some_points(2000)

    assert kept(points, user=[None] * len(points), memory_bytes=memory_bytes) == ([], 0)
    own, total = kept(points, user=[None] * len(points), missing="own", memory_bytes=memory_bytes)
    assert total == len(own) == len(expected([None] * len(points), points, missing="own")) > 0


@pytest.mark.parametrize("memory_bytes", [ALL_IN_MEMORY, ON_DISK], ids=["in memory", "on disk"])
def test_no_rows_at_all(memory_bytes):
    """An empty source is an empty source."""
    assert kept(np.empty((0, 2)), user=[], memory_bytes=memory_bytes) == ([], 0)


def test_counts_are_of_kept_points():
    """A counter on the bounded source sees nothing else, its rows are kept records."""
    ids, points = some_records()
    rule = KeyedRule(key=KEY, domain=DOMAIN, most=4)
    wanted = expected(ids, points)

    for memory_bytes in (ALL_IN_MEMORY, ON_DISK):
        with bounded_points(open_points(points, crs=DOMAIN.crs, user=ids), rule, memory_bytes=memory_bytes) as bounded:
            counter = PointCounter(DOMAIN, bounded.source)
            assert counter.rows() == counter.total() == len(wanted)
            assert counter.count(Grid(domain=DOMAIN, rows=3, columns=4)).sum() == len(wanted)


def test_the_records_that_were_not_kept_are_out_of_reach():
    """Once bounded, nothing holds the source any more."""
    ids, points = some_records()
    source = open_points(points, crs=DOMAIN.crs, user=ids)
    gone = weakref.ref(source)
    with bounded_points(source, KeyedRule(key=KEY, domain=DOMAIN, most=4)) as bounded:
        del source
        gc.collect()
        assert gone() is None
        assert repr(bounded) == "BoundedPoints(...)"


def test_temporary_files_are_private_and_go_away(monkeypatch, tmp_path):
    """The folder is its owner's alone, and is removed after an error, too."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ids, points = some_records()
    rule = KeyedRule(key=KEY, domain=DOMAIN, most=4)

    def fail():
        with bounded_points(open_points(points, crs=DOMAIN.crs, user=ids), rule, memory_bytes=ON_DISK):
            (folder,) = tmp_path.iterdir()
            modes.append(stat.S_IMODE(folder.stat().st_mode))
            files.extend(path.name for path in folder.rglob("*") if path.is_file())
            msg = "on purpose"
            raise RuntimeError(msg)

    modes, files = [], []
    with pytest.raises(RuntimeError, match="on purpose"):
        fail()
    assert modes == [0o700]
    assert files == ["kept.arrow"]  # rows that were not kept are gone already
    assert list(tmp_path.iterdir()) == []


def test_partitions_too_large_are_divided_again(monkeypatch):
    """Two files at a time, and memory for few rows: several rounds, the same points."""
    monkeypatch.setattr(partitions, "PARTITIONS", 2)
    monkeypatch.setattr(partitions, "DEEPEST", 3)
    ids, points = some_records()

    assert kept(points, user=ids, memory_bytes=3000)[0] == expected(ids, points)


def test_a_full_disk_is_an_error_that_helps(monkeypatch, tmp_path):
    """It names the variable that moves temporary files, and nothing of the data."""
    ids, points = some_records()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(partitions.pa.ipc, "new_stream", full)
    with pytest.raises(HushgridError, match=r"No space left on device.*TMPDIR"):
        kept(points, user=ids, memory_bytes=ON_DISK)


def test_a_file_that_changes_meanwhile_is_refused(tmp_path):
    """All rows come from one snapshot."""
    ids, points = some_records()
    path = csv_of(ids, points, tmp_path / "d.csv")

    work = Work([Step("reading", 1.0)], lambda share: share and path.write_text("who,lon,lat\n"))
    work.begin("reading")

    with pytest.raises(InputError, match="changed while it was being published"), work:
        kept(path, user="who")


MEMORY_SCRIPT = """
import resource, sys
from pathlib import Path
from hushgrid.counting.bounded import bounded_points
from hushgrid.counting.bounding import KeyedRule
from hushgrid.counting.opening import open_points
from hushgrid.geometry.domain import Domain

domain = Domain(west=0, south=0, east=1, north=1)
rule = KeyedRule(key=bytes(32), domain=domain, most=3)

def bound(path):
    with bounded_points(open_points(path, user="who"), rule, memory_bytes=2**22) as bounded:
        return bounded.source.rows()

bound(Path(sys.argv[1]))  # everything is loaded and compiled
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows = bound(Path(sys.argv[2]))
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_threads_that_fill_memory_at_the_same_time_lose_no_row(tmp_path, monkeypatch):
    """Eight threads, each of whose blocks fills memory, change places as often as they can."""
    monkeypatch.setattr(partitions, "PARTITIONS", 3)
    blocks = [
        UserRows(Ids.of(pa.array([b"%d" % user for user in range(20)], IDS)), np.full(20, float(number)), np.zeros(20))
        for number in range(64)
    ]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for run in range(30):
            divided = UserPartitions(tmp_path / str(run), memory_bytes=blocks[0].nbytes)
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(divided.add, blocks))
            held = [rows.longitudes for partition in divided.close() for rows in partition]
            assert np.array_equal(np.bincount(np.concatenate(held).astype(int)), np.full(64, 20))
    finally:
        sys.setswitchinterval(before)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_memory_stays_bounded_on_two_million_rows(threads, tmp_path, monkeypatch):
    """Of 2,000,000 rows, 90 MB with their ids, a few megabytes of each thread are in memory at once."""
    monkeypatch.setenv("HUSHGRID_THREADS", str(threads))
    rng = np.random.default_rng(6)
    for name, size in (("small", 300_000), ("large", 2_000_000)):
        users = rng.integers(0, 200_000, size)
        columns = {"who": pa.array(users + 10**15), "lon": rng.random(size), "lat": rng.random(size)}
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet", row_group_size=100_000)
    paths = [str(tmp_path / f"{name}.parquet") for name in ("small", "large")]
    done = subprocess.run([sys.executable, "-c", MEMORY_SCRIPT, *paths], capture_output=True, text=True, check=True)
    rows, kilobytes = map(int, done.stdout.split())

    assert rows == np.minimum(np.bincount(users), 3).sum()
    assert kilobytes < 35_000 * threads


def test_a_lack_of_memory_is_an_error_that_says_nothing_of_the_rows(monkeypatch):
    """All records of one user are sorted at once."""

    def keep(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(KeyedRule, "keep", keep)
    ids, points = some_records()
    with pytest.raises(HushgridError, match="more memory than there is"):
        kept(points, user=ids)
