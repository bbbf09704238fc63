"""Everything that an object holds, as lines of text.

A release is passed on as an object, too: pickled, copied, looked at in a notebook. So the audit compares all that can
be reached from it, and not only what it shows.
"""

import functools
import hashlib
import types
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from enum import Enum
from numbers import Number
from pathlib import PurePath
from typing import Any

import numpy as np

PLAIN = (str, bytes, Number, Decimal, date, Enum, PurePath, types.NoneType, types.EllipsisType)
OURS = "hushgrid."
COMPILED = "hushgrid.compiled"  # functions, which know when they were compiled


def held(found: object) -> bytes:
    """One line for each value that can be reached, with the way there.

    Examples
    --------
    >>> print(held({"counts": [3, None]}).decode())
    ['counts'][0]: 3
    ['counts'][1]: None
    """
    return "\n".join(_lines(found, "", {})).encode()


def _lines(found: Any, way: str, seen: dict[int, object]) -> Iterator[str]:
    if isinstance(found, PLAIN):
        yield f"{way}: {found!r}"
    elif isinstance(found, np.ndarray) and not found.dtype.hasobject:
        yield f"{way}: {found.dtype} {found.shape} {hashlib.sha256(found.tobytes()).hexdigest()}"
    elif id(found) not in seen:
        seen[id(found)] = found  # kept, so that no other object gets its number
        inner = list(_inside(found))
        if not inner:
            yield f"{way}: {_kind(found)}"
        for name, each in inner:
            yield from _lines(each, f"{way}{name}", seen)


def _inside(found: Any) -> Iterator[tuple[str, object]]:
    """What an object is made of, if it may be of ours."""
    match found:
        case np.ndarray():
            yield from ((f"[{number}]", each) for number, each in enumerate(found.ravel().tolist()))
        case Mapping():
            yield from ((f"[{key!r}]", each) for key, each in found.items())
        case list() | tuple():
            yield from ((f"[{number}]", each) for number, each in enumerate(found))
        case set() | frozenset():
            yield "{}", sorted(map(repr, found))
        case functools.partial():
            yield from (("()", found.func), ("(args)", found.args), ("(keywords)", found.keywords))
        case types.MethodType():
            yield from (("()", found.__func__), ("(self)", found.__self__))
        case types.FunctionType():
            yield from ((f"(cell {number})", cell.cell_contents) for number, cell in enumerate(found.__closure__ or ()))
        case _ if _kind(found).startswith("pyarrow."):
            yield "()", repr(found.to_pylist()) if hasattr(found, "to_pylist") else str(found)
    if _kind(found).startswith(OURS) and not _kind(found).startswith(COMPILED):  # a mapping of ours, too
        yield from ((f".{name}", each) for name, each in getattr(found, "__dict__", {}).items())
        slots = (name for kind in type(found).__mro__ for name in getattr(kind, "__slots__", ()))
        yield from ((f".{name}", getattr(found, name)) for name in slots if hasattr(found, name))


def _kind(found: object) -> str:
    return f"{type(found).__module__}.{type(found).__qualname__}"
