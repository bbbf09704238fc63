"""The first release on a machine gets help with compiling, and no other does."""

import subprocess
import sys
from types import SimpleNamespace

import numba
import pytest

import hushgrid as hg
from hushgrid.compiled import Kernel, compiled
from hushgrid.release import warm_up
from hushgrid.release.auto import Auto

DOMAIN = hg.Domain(west=0, south=0, east=1, north=1)


@compiled
def doubled(number):
    """Twice a number."""
    return 2 * number


def publish():
    """A simulated release by the default method."""
    return hg.publish([[0.5, 0.5], [0.2, 0.7]] * 500, domain=DOMAIN, epsilon=1, rng=hg.simulation_rng(0))


@pytest.fixture
def cold(monkeypatch, tmp_path):
    """A kernel, and a cache that does not have it yet; what takes longest is in another one."""
    monkeypatch.setenv("HUSHGRID_THREADS", "2")
    monkeypatch.setattr(warm_up, "send_up", SimpleNamespace(is_missing=False))
    monkeypatch.setattr(warm_up.Helper, "was_started", False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return Kernel(doubled.__wrapped__)


@pytest.fixture
def helpers(monkeypatch):
    """The helpers that are started: processes that wait for a minute."""
    started = []

    def start():
        code = "import time; time.sleep(60)"
        started.append(subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE))
        return started[-1]

    monkeypatch.setattr(warm_up, "start", start)
    return started


def test_a_helper_starts_with_the_first_kernel_and_ends_with_the_block(cold, helpers):
    """One helper for all kernels; it is gone afterwards, and was waited for."""
    with warm_up.helped_to_compile(Auto(), print):
        assert cold(1) == 2
        assert cold(1.5) == 3
        (helper,) = helpers
        assert helper.poll() is None
    assert helper.returncode is not None


def test_a_helper_starts_at_once_where_what_takes_longest_is_missing(cold, helpers, monkeypatch):
    """Before anything is compiled; and there is one helper, whatever is compiled then."""
    monkeypatch.setattr(warm_up, "send_up", cold)
    with warm_up.helped_to_compile(Auto(), print):
        assert len(helpers) == 1
        cold(1)
    assert [helper.returncode is not None for helper in helpers] == [True]

    monkeypatch.setattr(warm_up.Helper, "was_started", False)
    with warm_up.helped_to_compile(Auto(), print):  # it was kept
        assert len(helpers) == 1


def test_small_releases_start_no_helper_again_and_again(cold, helpers, monkeypatch):
    """Where they need nothing of what it compiles, it stays missing."""
    monkeypatch.setattr(warm_up, "send_up", cold)
    for _ in range(3):
        with warm_up.helped_to_compile(Auto(), print):
            pass
    assert len(helpers) == 1


@pytest.mark.parametrize(("inference", "expected"), [("belief", 1), ("least-squares", 0)])
def test_no_helper_starts_at_once_for_an_inference_without_messages(inference, expected, cold, helpers, monkeypatch):
    """It could have to be killed before it has compiled what takes longest, every time."""
    monkeypatch.setattr(warm_up, "send_up", cold)
    with warm_up.helped_to_compile(hg.Staq(inference=inference), print):
        assert len(helpers) == expected


def test_a_helper_ends_with_an_error_too(cold, helpers):
    """Whatever ends the release ends the helper."""

    def interrupt():
        with warm_up.helped_to_compile(Auto(), print):
            cold(1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert [helper.returncode is not None for helper in helpers] == [True]


def test_there_is_no_helper_where_all_is_compiled(monkeypatch, helpers):
    """The second release of a process compiles nothing."""
    monkeypatch.setenv("HUSHGRID_THREADS", "2")
    publish()
    helpers.clear()
    publish()
    assert helpers == []


def test_kept_kernels_need_no_helper(cold, helpers):
    """A kernel that is found in the cache is not compiled."""
    cold(1)
    with warm_up.helped_to_compile(Auto(), print):
        assert Kernel(doubled.__wrapped__)(1) == 2
    assert helpers == []


def test_other_methods_get_no_helper(cold, helpers):
    """What it compiles would be of no use to them."""
    with warm_up.helped_to_compile(hg.UniformGrid(), print):
        cold(1)
    assert helpers == []


def test_a_helper_that_cannot_start_does_no_harm(cold, monkeypatch, tmp_path):
    """The release goes on alone."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with warm_up.helped_to_compile(Auto(), print):
        assert cold(1) == 2


def test_a_helper_that_fails_does_no_harm(cold, monkeypatch, capfd, tmp_path):
    """It is as quiet as one that works."""
    (tmp_path / "hushgrid").mkdir()
    (tmp_path / "hushgrid" / "__init__.py").write_text("raise RuntimeError('broken')")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with warm_up.start() as process:
        assert process.wait(60) == 1
    assert capfd.readouterr() == ("", "")


def test_a_helper_ends_when_the_process_that_wants_it_is_gone():
    """Its standard input ends then, whatever happened to the other process."""
    code = "import time; from hushgrid.release import warm_up; warm_up.compile_ahead = lambda: time.sleep(600); "
    with subprocess.Popen([sys.executable, "-c", code + "warm_up.main()"], stdin=subprocess.PIPE) as helper:
        helper.stdin.close()
        assert helper.wait(60) == 0


@pytest.mark.parametrize(
    ("executable", "threads", "is_frozen"),
    [("", "2", False), ("/usr/bin/qgis", "2", False), ("/usr/bin/python3", "1", False), ("python.exe", "2", True)],
)
def test_where_a_second_process_is_not_safe_or_of_no_use_there_is_none(executable, threads, is_frozen, monkeypatch):
    """Other programs would start themselves once more."""
    monkeypatch.setenv("HUSHGRID_THREADS", "2")
    assert warm_up.can_be_helped()

    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(sys, "frozen", is_frozen, raising=False)
    monkeypatch.setenv("HUSHGRID_THREADS", threads)
    assert not warm_up.can_be_helped()


def test_it_is_said_once_why_it_takes_so_long(cold, helpers, monkeypatch):
    """It is not said with the first kernel, which may be the only one."""
    monkeypatch.setattr(warm_up, "A_MOMENT", 0)
    told = []
    with warm_up.helped_to_compile(Auto(), told.append):
        cold(1)
        assert told == []
        cold(1.5)
        cold(1j)
    assert told == [warm_up.NOTE]


def test_the_helper_compiles_what_a_release_calls(monkeypatch, tmp_path):
    """Every kernel that it calls, a release that is saved calls with arguments of the same types."""
    called = set()
    call = Kernel.__call__

    def note(kernel, *arguments):
        called.add((kernel.__module__, kernel.__name__, *(str(numba.typeof(argument)) for argument in arguments)))
        return call(kernel, *arguments)

    monkeypatch.setattr(Kernel, "__call__", note)
    publish().save(tmp_path / "made-up.parquet", allow_simulation=True)
    by_release = called.copy()
    called.clear()
    warm_up.compile_ahead()
    assert {"send_up", "fill_boxes", "vary_on_tree", "vary_down"} <= {name for _, name, *_ in called}
    assert called <= by_release
