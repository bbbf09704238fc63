"""Kernels are compiled, on machines where nothing can be kept too."""

import gc
import subprocess
import sys

import numba
import pytest
from numba.core.event import Listener, install_listener

from hushgrid.compiled import compiled


def double(number):
    """Twice a number."""
    return 2 * number


kernel_double = compiled(double)


@compiled
def quadruple(number):
    """Four times a number."""
    return kernel_double(kernel_double(number))


@compiled
def kernel_add(number, more):
    """A sum."""
    return number + more


@compiled
def add_three(number):
    """A number and three."""
    return kernel_add(kernel_add(number, 1), 2)


def test_a_kernel_is_compiled_and_kept():
    """A kernel is compiled, and runs without the global lock."""
    kernel = compiled(double)

    assert kernel(21) == 42
    assert kernel.dispatcher.nopython_signatures
    assert kernel.dispatcher.targetoptions["nogil"]


def test_where_nothing_can_be_kept_a_kernel_is_compiled_all_the_same(monkeypatch):
    """Numba refuses a cache at decoration when no folder can be written to."""
    njit = numba.njit
    asked = []

    def without_folder(**options):
        asked.append(options["cache"])
        if options["cache"]:
            msg = "cannot cache function: no locator available"
            raise RuntimeError(msg)
        return njit(**options)

    monkeypatch.setattr(numba, "njit", without_folder)

    assert compiled(double)(21) == 42
    assert asked == [True, False]


def test_a_kernel_is_missing_until_a_process_keeps_it(monkeypatch, tmp_path):
    """Another one beside it changes nothing."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kernel, other = compiled(double), compiled(quadruple.__wrapped__)
    assert kernel.is_missing

    assert other(2) == 8
    assert kernel.is_missing
    assert not other.is_missing

    assert kernel(2) == 4
    assert not kernel.is_missing
    assert not compiled(double).is_missing


def test_where_nothing_can_be_kept_nothing_is_missing(monkeypatch):
    """There is no use in compiling for others."""
    njit = numba.njit
    monkeypatch.setattr(numba, "njit", lambda **options: njit(**options | {"cache": False}))
    monkeypatch.setattr("hushgrid.compiled._by_one_process", lambda dispatcher: dispatcher)
    assert not compiled(double).is_missing


def test_another_error_is_not_swallowed(monkeypatch):
    """Only the missing cache is forgiven."""

    def broken(**options):
        msg = "broken"
        raise ValueError(msg)

    monkeypatch.setattr(numba, "njit", broken)

    with pytest.raises(ValueError, match="broken"):
        compiled(double)(21)


def test_a_kernel_may_call_others():
    """They are compiled with it, and can still be called by themselves."""
    assert quadruple(5) == 20
    assert kernel_double(5) == 10


def test_a_kernel_that_others_call_is_compiled_once_for_them(monkeypatch, tmp_path):
    """Once for all constants, and without a way in from Python, which would take half the time again."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # else it would not be compiled, but found

    assert add_three(1) == 4
    assert [str(signature) for signature in kernel_add.inner.overloads] == ["(int64, int64)"]
    assert kernel_add.inner.targetoptions["no_cpython_wrapper"]
    assert "no_cpython_wrapper" not in add_three.dispatcher.targetoptions


def test_numba_is_imported_with_the_first_call_and_not_before():
    """Importing hushgrid does not load numba, so that asking for help does not wait for it."""
    code = "import sys, hushgrid; assert 'numba' not in sys.modules"

    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("collects", [True, False])
def test_compiling_leaves_the_collector_as_it_was(collects):
    """Garbage may lie while a kernel is compiled, whether that works or not."""
    before, during = gc.isenabled(), []

    class Compiling(Listener):
        def on_start(self, event):
            during.append(gc.isenabled())

        def on_end(self, event):
            pass

    (gc.enable if collects else gc.disable)()
    try:
        with install_listener("numba:compile", Compiling()):
            assert compiled(double)(2) == 4
            with pytest.raises(numba.TypingError):
                compiled(double)({})
        assert gc.isenabled() == collects
        assert during
        assert not any(during)
    finally:
        (gc.enable if before else gc.disable)()
