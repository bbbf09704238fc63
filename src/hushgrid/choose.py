"""The choice of a method: by name, by parameters, or by `auto`."""

from collections.abc import Mapping
from dataclasses import dataclass

from hushgrid.errors import ArgumentError
from hushgrid.methods import METHODS
from hushgrid.methods.method import Method

AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A method, what was asked for, and why it was chosen."""

    method: Method
    asked: str
    reason: str | None = None


def choose(asked: str | Method = AUTO, *, methods: Mapping[str, type[Method]] = METHODS) -> Choice:
    """The method to run, from public arguments alone.

    Examples
    --------
    >>> choose("auto").method.name
    'ag'
    >>> choose("ug")
    Choice(method=UniformGrid(side=None, c=10.0), asked='ug', reason=None)
    """
    if not isinstance(asked, str):
        if not hasattr(asked, "release"):
            msg = f"method must be a name or a method such as AdaptiveGrid(), got {type(asked).__name__}."
            raise ArgumentError(msg)
        return Choice(method=asked, asked=asked.name)
    if asked == AUTO:
        reason = "auto takes the adaptive grid, which had the lower error on every data set measured"
        return Choice(method=methods["ag"](), asked=AUTO, reason=reason)
    if asked not in methods:
        msg = f"method must be one of {', '.join([AUTO, *methods])}; got method={asked!r}."
        raise ArgumentError(msg)
    return Choice(method=methods[asked](), asked=asked)
