"""A second process that compiles, in the first release on a machine.

Kernels are compiled at their first call and kept for later processes. Until some are kept, that takes far longer than a
release, and numba compiles one at a time. So a helper compiles what a release needs later, while the release compiles
what it needs first.
"""

import gc
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any, ClassVar, cast

import numpy as np

from hushgrid.answering.sloped_trees import SlopedSurface
from hushgrid.compiled import Kernel, thread_count
from hushgrid.geometry.domain import Domain
from hushgrid.geometry.quadrants import all_cells, quadrant_tree
from hushgrid.inference.belief import send_no_messages
from hushgrid.inference.belief_loops import send_up
from hushgrid.inference.inferences import LEAST_SQUARES
from hushgrid.inference.least_squares import measurements_of_nodes
from hushgrid.inference.measurements import NoisyValues
from hushgrid.inference.split_prior import cumulative_tables
from hushgrid.inference.splits import FIRST_WEIGHTS
from hushgrid.methods.method import Method, record
from hushgrid.methods.staq import AimedQuadtree, Staq
from hushgrid.privacy.bits import SystemBits
from hushgrid.privacy.budget import Budget
from hushgrid.release.auto import Auto
from hushgrid.sampling.likeness import Replica
from hushgrid.synopsis.synopsis import Synopsis

NOTE = "Compiling for this machine, once; this takes ten to twenty seconds."
SOMEWHERE = np.array([[0.1, 0.1, 0.7, 0.8]])
A_MOMENT = 1.0  # seconds of compiling that need no word


@contextmanager
def helped_to_compile(method: Method, tell: Callable[[str], None]) -> Iterator[None]:
    """Get help if something has to be compiled for a release.

    The helper starts at once, in the first release of a process, if no earlier process kept what takes longest; else
    with the first kernel that has to be compiled. It ends with the block at the latest. No helper starts for methods
    other than the default, where it would be of no use or unsafe, and with ``HUSHGRID_THREADS=1``.

    Parameters
    ----------
    method : Method
        That publishes.
    tell : callable
        Told why it takes so long, if it does.
    """
    if not isinstance(method, Auto | Staq | AimedQuadtree):
        yield
        return
    from numba.core.event import Listener, install_listener

    helper = Helper(tell)

    class Compiling(Listener):
        def on_start(self, event: Any) -> None:
            helper.hear(is_kept=event.data["dispatcher"].stats.cache_path is not None)

        def on_end(self, event: Any) -> None:
            pass

    try:
        if not Helper.was_started and sends_messages(method) and cast("Kernel", send_up).is_missing:
            helper.start()
        with install_listener("numba:compile", Compiling()):
            yield
    finally:
        helper.end()


def sends_messages(method: Auto | Staq | AimedQuadtree) -> bool:
    """Whether a method usually infers by messages, which take longest to compile."""
    return isinstance(method, Auto) or method.inference in {"belief", "half"}


class Helper:
    """A process that compiles ahead, once there is a need.

    Parameters
    ----------
    tell : callable
        Told why it takes so long, if it does.
    """

    was_started: ClassVar[bool] = False  # any helper, in this process: small releases would start one again and again

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told = False
        self._began: float | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process, unless it runs or is of no use."""
        if self._process is None and can_be_helped():
            Helper.was_started = True
            self._process = start()

    def hear(self, *, is_kept: bool) -> None:
        """Note that a kernel is being compiled, and whether it will be kept."""
        if self._began is None:
            self._began = monotonic()
            if is_kept:
                self.start()
        elif not self._told and monotonic() - self._began > A_MOMENT:
            self._told = True
            self._tell(NOTE)

    def end(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


def can_be_helped() -> bool:
    """Whether a second process is safe to start, and of use.

    In other programs than Python, such as QGIS, ``sys.executable`` is the program; and a worker of a pool has others
    beside it that are as busy.
    """
    is_python = Path(sys.executable or "").name.lower().startswith(("python", "pypy"))
    is_worker = multiprocessing.parent_process() is not None
    return is_python and not getattr(sys, "frozen", False) and not is_worker and thread_count() > 1


def start() -> "subprocess.Popen[bytes] | None":
    """Start the process that compiles ahead, if that works."""
    command = [sys.executable, "-P", "-m", "hushgrid.release.warm_up"]
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        return subprocess.Popen(  # noqa: S603  # this interpreter and this module
            command,
            env=os.environ | paths,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


def main() -> None:
    """Compile what a release needs later, unless its process ends."""
    gc.disable()  # this process ends before garbage matters
    Thread(target=_end_with_parent, daemon=True).start()
    compile_ahead()


def _end_with_parent() -> None:
    sys.stdin.buffer.read()  # nothing comes; the end does when the other process is gone
    os._exit(0)


def compile_ahead() -> None:
    """Compile kernels of the default method before a release needs them.

    What takes longest comes first, then what is needed last, about in the order of need: a release gets there when it
    is done. It compiles the rest meanwhile, and nothing here waits for that. Points are made up like a small made-up
    release, and then it is asked what calibration and its file ask of one.
    """
    send_no_messages()
    cumulative_tables(np.tile(FIRST_WEIGHTS, (2, 1)))
    synopsis = _made_up()
    Replica(synopsis).points(len(synopsis.counts), seed=0)
    surface = SlopedSurface(synopsis.evidence, synopsis.counts, np.zeros((len(synopsis.counts), 2)))
    surface.variances(SOMEWHERE)
    surface.counts(SOMEWHERE)
    assert np.all(synopsis.variances > 0)


def _made_up() -> Synopsis:
    """A release of counts that nobody measured, by an inference that learns nothing."""
    tree = quadrant_tree(all_cells(Domain(west=0, south=0, east=1, north=1), 2))
    values = NoisyValues.at_one_rate(np.ones(tree.cells, np.int64), Fraction(1))
    return Synopsis(
        partition=tree,
        measurements=measurements_of_nodes(tree, tree.leaves, values),
        inference=LEAST_SQUARES.name,
        counts=np.ones(tree.cells),
        claim=Budget(Fraction(1), bits=SystemBits(), public_size=tree.cells).claim(),
        method=record(Staq()),
    )


if __name__ == "__main__":
    main()
