"""Compiles inner loops with numba, and threads them."""

import gc
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from threading import RLock, current_thread
from types import FunctionType
from typing import Any, TypeVar, cast

from hushgrid.errors import ArgumentError

Function = TypeVar("Function", bound=Callable[..., object])
Item = TypeVar("Item")

_LOCK = RLock()


class Kernel:
    """A function that numba compiles at its first call.

    numba itself is imported then, too: it takes as long to import as everything else together, and neither `--help`
    nor a look at the package needs it.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        update_wrapper(self, function)
        self._function = function

    def __call__(self, *arguments: object) -> object:
        """Call the compiled function."""
        return self.dispatcher(*arguments)

    @property
    def dispatcher(self) -> Any:
        """The function as numba compiled it."""
        with _LOCK:
            return self._for_python

    @cached_property
    def _for_python(self) -> Any:
        return _compile(self._among_kernels(), no_cfunc_wrapper=True)

    @cached_property
    def inner(self) -> Any:
        """The function for other kernels to call.

        Nobody calls it from Python, and the way in from there takes nearly half as long to compile as the function.
        """
        function = self._among_kernels()
        function.__qualname__ += "_inner"  # what numba caches it by
        dispatcher = _compile(function, no_cfunc_wrapper=True, no_cpython_wrapper=True)
        return _without_literals(dispatcher)

    @property
    def is_missing(self) -> bool:
        """Whether it can be kept, and no earlier process kept it.

        One whose source has changed since is not missing: that shows when it is called.
        """
        folder = self.dispatcher.stats.cache_path
        return folder is not None and not any(Path(folder).glob(f"*.{self._function.__name__}-*.nbi"))

    def _among_kernels(self) -> FunctionType:
        """The function, with the kernels it calls as numba wants them."""
        function = self._function
        names = {
            name: value.inner if isinstance(value, Kernel) else value
            for name, value in function.__globals__.items()
            if not isinstance(value, Kernel) or name in function.__code__.co_names
        }
        copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
        return cast("FunctionType", update_wrapper(copy, function))


def compiled(function: Function) -> Function:
    """Compile a function at its first call.

    The machine code is kept for the next process.

    Integer and float semantics are those of the source: `fastmath` stays off, because counting must agree bit for
    bit with every other engine.
    """
    return cast("Function", Kernel(function))


def _compile(function: FunctionType, **flags: bool) -> Any:
    import numba
    import numba.core.typing.arraydecl  # before lists and dicts: numba tries what is imported first, and here it fits

    njit: Any = numba.njit  # whose flags for a way in from Python and C are not in its stubs
    try:
        return _by_one_process(njit(nogil=True, cache=True, **flags)(function))
    except RuntimeError:
        # numba refuses at decoration when neither the package nor the home folder can be written to.
        return njit(nogil=True, cache=False, **flags)(function)


def _by_one_process(dispatcher: Any) -> Any:
    """Compile in one process, while others wait for what it keeps."""
    name = f"{dispatcher.__module__}.{dispatcher.__qualname__}.lock"
    lock, compile_now = Path(dispatcher.stats.cache_path, name), dispatcher.compile

    def compile_in_turn(signature: Any) -> Any:
        with _locked(lock), _without_collecting():
            return compile_now(signature)

    dispatcher.compile = compile_in_turn
    return dispatcher


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock between processes, where the system has such locks.

    It ends with the process that holds it, so that nobody waits for one that is gone.
    """
    with ExitStack() as held:
        with suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(held.enter_context(path.open("w")), fcntl.LOCK_EX)
            held.callback(path.unlink, missing_ok=True)  # whoever waits has it open
        yield


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Let garbage lie for a while.

    numba makes so many small objects that looking for garbage takes a tenth of the time of compiling.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _without_literals(dispatcher: Any) -> Any:
    """Compile for a type once, not again for each constant that is given."""
    from numba.core.types import unliteral

    of_types = dispatcher.get_call_template
    dispatcher.get_call_template = lambda kinds, named: of_types([*map(unliteral, kinds)], named)
    return dispatcher


SLICES_PER_THREAD = 4
POOL = "hushgrid-loop"  # name of the threads that loops run on


def thread_count() -> int:
    """Number of threads to use.

    That is ``HUSHGRID_THREADS``, or one for each processor of this process.
    """
    asked = os.environ.get("HUSHGRID_THREADS")
    if asked is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not asked.isdecimal() or int(asked) < 1:
        msg = f"HUSHGRID_THREADS must be a whole number of at least 1, got {asked!r}."
        raise ArgumentError(msg)
    return int(asked)


def run_in_slices(work: Callable[[int, int], object], size: int, *, smallest: int) -> None:
    """Call ``work(first, stop)`` on slices of ``range(size)``.

    No slice has fewer than `smallest` items. There are a few slices a thread, because some take longer than others.
    """
    most = size // smallest
    threads = max(1, min(thread_count(), most))
    if threads == 1 or current_thread().name.startswith(POOL):  # a loop inside a loop has its thread already
        work(0, size)
        return
    slices = min(SLICES_PER_THREAD * threads, most)
    edges = [size * part // slices for part in range(slices + 1)]
    list(pool_of(threads).map(work, edges[:-1], edges[1:]))


@cache
def pool_of(threads: int) -> ThreadPoolExecutor:
    """Threads that are kept for the next loop."""
    return ThreadPoolExecutor(threads, thread_name_prefix=POOL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool_of.cache_clear)  # threads do not live on in a child


def run_each(work: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Call ``work(item)`` for every item, each on the next free thread.

    After an error or an interrupt, none is begun any more.
    """
    waiting = deque(items)

    def run() -> None:
        while True:
            try:
                item = waiting.popleft()
            except IndexError:
                return
            work(item)

    threads = max(1, min(thread_count(), len(waiting)))
    if threads == 1:
        run()
        return
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(run) for _ in range(threads)]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            waiting.clear()
        for future in futures:
            future.result()
