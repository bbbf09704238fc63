"""The choice of a method: by name, by parameters, or by `auto`."""

from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import ClassVar

from hushgrid.counting.counter import Counter
from hushgrid.errors import ArgumentError
from hushgrid.methods import ALIASES, METHODS
from hushgrid.methods.method import Method
from hushgrid.methods.staq import Staq
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.priors.prior import Prior
from hushgrid.privacy.budget import Budget
from hushgrid.synopsis.synopsis import Synopsis

# Points times epsilon. Measured on six data sets: UG had 0.57 of STAQ's mean error at 10, and 1.3 times it at 30.
FEWEST_FOR_STAQ = 20
WHY_UG = "auto took the uniform grid, because there are too few points for this epsilon to see more"
WHY_STAQ = "auto took STAQ, which had the lowest error on nearly every data set measured"
LEFT_OUT = "the prior was left out, because it sharpens STAQ alone"


@dataclass(frozen=True, kw_only=True)
class Auto:
    """STAQ, or UG where a public size says that points are few.

    A noisy size cannot say so: with so little to measure, it would be nearly all noise.

    Parameters
    ----------
    staq : Staq
        STAQ with its parameters, for when it is chosen.

    Privacy
    -------
    That of the method taken: the choice is a function of public arguments.
    """

    name: ClassVar[str] = "auto"
    most_cells: ClassVar[int] = Staq.most_cells
    staq: Staq = field(default=Staq(), repr=False)  # not something that a request can set

    def release(self, counter: Counter, budget: Budget, prior: Prior | None = None) -> Synopsis:
        """Publish by the method chosen, which the release names, with the reason."""
        public_size = budget.public_size
        if public_size is not None and public_size * budget.epsilon < FEWEST_FOR_STAQ:
            left_out = () if prior is None else (LEFT_OUT,)
            return _chosen(UniformGrid().release(counter, budget), WHY_UG, *left_out)
        return _chosen(self.staq.release(counter, budget, prior), WHY_STAQ)

    def measure(self, counter: Counter, budget: Budget) -> Synopsis:
        """Measure by STAQ, to be inferred with a prior later."""
        return _chosen(self.staq.measure(counter, budget), WHY_STAQ)


def _chosen(synopsis: Synopsis, reason: str, *more: str) -> Synopsis:
    """A release that says why its method was chosen."""
    notes = (reason, *synopsis.method.notes, *more)
    return replace(synopsis, method=replace(synopsis.method, asked=Auto.name, notes=notes))


AUTO = Auto.name
NO_SUBSCRIPT = str.maketrans("", "", "_{}")


def choose(asked: str | Method = AUTO) -> Method:
    """The method to run, from public arguments alone.

    Examples
    --------
    >>> choose("auto")
    Auto()
    >>> choose("ug")
    UniformGrid(side=None, c=10.0)
    >>> choose("U_64") == choose("U_{64}") == UniformGrid(side=64)
    True
    """
    if not isinstance(asked, str):
        if not hasattr(asked, "release"):
            msg = f"method must be a name or a method such as AdaptiveGrid(), got {type(asked).__name__}."
            raise ArgumentError(msg)
        return asked
    if asked == AUTO:
        return Auto()
    method = METHODS[asked]() if asked in METHODS else _by_alias(asked)
    if method is None:
        names = [AUTO, *METHODS]
        msg = (
            f"method must be one of {', '.join(names)}, or what papers call one, such as uniform-grid, K_st, U_64 or "
            f"kd-paper; got method={asked!r}."
        )
        known = {name.lower(): name for name in (*ALIASES, *names) if "{" not in name}
        near = get_close_matches(asked.lower(), known, n=1)
        raise ArgumentError(msg, instead={"method": known[near[0]]} if near else None)
    return method


def _by_alias(asked: str) -> Method | None:
    """The method of an alias, with the numbers in it.

    Subscripts may be written in any way: ``U_64``, ``U_{64}`` and ``U64``.
    """
    plain = asked.translate(NO_SUBSCRIPT)
    for alias, make in ALIASES.items():
        letter, braces, names = alias.partition("_{")
        if not braces and plain == alias.translate(NO_SUBSCRIPT):
            return make()
        values = [_number(text) for text in plain.removeprefix(letter).split(",")]
        if braces and plain.startswith(letter) and len(values) == len(names.split(",")) and None not in values:
            return make(*values)
    return None


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None
