"""One pass over a source: threads, progress, snapshots."""

import os
import threading

import numpy as np
import pytest

from hushgrid.counting import counter as counters
from hushgrid.counting import memory
from hushgrid.counting.counter import TALLIES, PointCounter
from hushgrid.counting.opening import open_points
from hushgrid.counting.source import Block
from hushgrid.errors import ArgumentError, InputError
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.grid import Grid, NestedGrid
from hushgrid.work import Step, Work
from tests.plain import PlainCounter
from tests.unit.counting.tables import DOMAIN, FORMS, some_points

GRID = Grid(domain=DOMAIN, rows=5, columns=9)
FILES = ["Parquet", "Parquet in row groups", "GeoParquet of WKB", "CSV", "compressed CSV"]


def counter(points, **options):
    return PointCounter(DOMAIN, open_points(points, crs=DOMAIN.crs), **options)


class Parts:
    """A source of given parts that remembers which threads read it."""

    def __init__(self, parts):
        self._parts = parts
        self.threads = set()

    def rows(self):
        """Not asked for here."""
        raise NotImplementedError

    def parts(self):
        """Each part is read when it is asked for."""
        return [self._read(part) for part in self._parts]

    def check_unchanged(self):
        """It never changes."""

    def _read(self, part):
        self.threads.add(threading.get_ident())
        yield from part()


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_any_number_of_threads_gives_the_same_counts(threads, monkeypatch):
    """Each thread counts for itself; the sum is that of one."""
    monkeypatch.setenv("HUSHGRID_THREADS", threads)
    monkeypatch.setattr(memory, "PART_ROWS", 10)
    points = some_points(300)

    counted = counter(points).count(GRID)

    np.testing.assert_array_equal(counted, PlainCounter(DOMAIN, tuple(points)).count(GRID))


def meeting(count):
    """As many parts as asked for, which can only be read at the same time."""
    barrier = threading.Barrier(count, timeout=10)

    def part():
        barrier.wait()
        yield Block.of(np.array([1.0]), np.array([1.0]), 1 / count)

    return [part] * count


def test_as_many_threads_run_as_are_asked_for(monkeypatch):
    """Three parts that wait for each other are read by three threads."""
    monkeypatch.setenv("HUSHGRID_THREADS", "3")
    source = Parts(meeting(3))

    assert PointCounter(DOMAIN, source).total() == 3
    assert len(source.threads) == 3


@pytest.mark.parametrize(("variable", "bytes_allowed"), [("1", 2**28), ("4", 8 * GRID.cells)])
def test_one_thread_is_the_caller_itself(variable, bytes_allowed, monkeypatch):
    """With one thread, or counts too large for more, no other is started."""
    monkeypatch.setenv("HUSHGRID_THREADS", variable)
    monkeypatch.setattr(counters, "COUNTS_BYTES", bytes_allowed)
    source = Parts(meeting(1) * 3)

    PointCounter(DOMAIN, source).count(GRID)

    assert source.threads == {threading.get_ident()}


@pytest.mark.parametrize("text", ["0", "-1", "two", "", "1.5"])
def test_a_number_of_threads_that_is_none_is_an_error(text, monkeypatch):
    """The message names the variable."""
    monkeypatch.setenv("HUSHGRID_THREADS", text)

    with pytest.raises(ArgumentError, match="HUSHGRID_THREADS"):
        counter(some_points()).count(GRID)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_an_error_in_one_part_ends_the_pass(threads, monkeypatch):
    """It reaches the caller, and parts that nobody began stay unread."""
    monkeypatch.setenv("HUSHGRID_THREADS", threads)
    read = []

    def good():
        read.append(1)
        yield Block.of(np.array([1.0]), np.array([1.0]), 0.0)

    def bad():
        msg = "damaged"
        raise InputError(msg)
        yield

    with pytest.raises(InputError, match="damaged"):
        PointCounter(DOMAIN, Parts([bad, *[good] * 20_000])).total()

    assert len(read) < 20_000


def test_another_partition_is_a_type_error_that_lists_the_known_ones():
    """A partition without an entry cannot be counted on."""

    class Hexagons:
        domain = DOMAIN
        cells = 3

    with pytest.raises(TypeError, match=r"Grid, NestedGrid.*; got a Hexagons\."):
        counter(some_points()).count(Hexagons())


def test_one_entry_adds_a_partition(monkeypatch):
    """A function that adds a block to counts is all a new partition needs."""

    class Halves:
        domain = DOMAIN
        cells = 2

    def add(block, true_counts):
        np.add.at(true_counts, np.where(block.longitudes < 10, 0, 1), 1)

    monkeypatch.setitem(TALLIES, Halves, lambda halves: add)

    assert counter(np.array([(0.0, 0.0), (9.0, 1.0), (11.0, 2.0)])).count(Halves()).tolist() == [2, 1]


def test_a_partition_of_another_domain_is_refused():
    """Counting on it would count other points than the counter's."""
    other = Domain(west=0, south=0, east=1, north=1)

    with pytest.raises(ArgumentError, match="must tile the counter's domain"):
        counter(some_points()).count(Grid(domain=other, rows=1, columns=1))


def test_counts_of_a_nested_grid_add_up_to_those_of_its_grid():
    """The second pass of AG counts the same points as the first."""
    counting = counter(some_points(2000))
    nested = NestedGrid(grid=GRID, sides=1 + np.arange(GRID.cells) % 5)

    sums = np.add.reduceat(counting.count(nested), nested.offsets[:-1])

    np.testing.assert_array_equal(sums, counting.count(GRID))


def rewrite(path):
    content = path.read_bytes()
    path.write_bytes(content)
    os.utime(path, ns=(1, 1))


def grow(path):
    with path.open("ab") as file:
        file.write(b"\n")


def replace(path):
    status = path.stat()
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize("change", [rewrite, grow, replace])
@pytest.mark.parametrize("form", FILES)
def test_a_file_that_changed_between_passes_is_an_error(form, change, tmp_path):
    """A new time, size or file under the same name is noticed before the next pass."""
    path = FORMS[form](some_points(), tmp_path)
    counting = counter(path)
    counting.count(GRID)

    change(path)

    for ask in (counting.rows, counting.total):
        with pytest.raises(InputError, match="changed while it was being published"):
            ask()


@pytest.mark.parametrize("form", FILES)
def test_a_file_that_changed_during_a_pass_is_an_error(form, tmp_path):
    """It is looked at again when the pass is over."""
    path = FORMS[form](some_points(), tmp_path)
    counting = counter(path)
    work = Work([Step("counting", 1.0)], lambda share: share and rewrite(path))

    with pytest.raises(InputError, match="changed while it was being published"), work:
        counting.count(GRID)


@pytest.mark.parametrize("form", FILES)
def test_a_file_that_is_gone_is_an_error(form, tmp_path):
    """A file deleted before the count is reported as missing."""
    path = FORMS[form](some_points(), tmp_path)
    counting = counter(path)
    path.unlink()

    with pytest.raises(InputError, match="does not exist"):
        counting.count(GRID)
