"""How the inner loops are compiled: numba, without the global lock, kept on disk where that is possible."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def compiled(kernel: Kernel) -> Kernel:
    """Compile a function with numba at its first call, and keep the machine code for the next process.

    Integer and float semantics are those of the source: `fastmath` stays off, because counting must agree bit for
    bit with every other engine.
    """
    try:
        return cast("Kernel", numba.njit(nogil=True, cache=True)(kernel))
    except RuntimeError:
        # numba refuses at decoration when neither the package nor the home folder can be written to.
        return cast("Kernel", numba.njit(nogil=True, cache=False)(kernel))
