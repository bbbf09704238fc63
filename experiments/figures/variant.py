"""A method with parameters, and what figures call it."""

import dataclasses
from dataclasses import dataclass
from functools import cache
from typing import Any, Self, cast

from experiments.figures.exhibit import ALPHA
from hushgrid.methods import METHODS

Value = int | float | str | bool | None

PAPER = "-paper"  # ends the names of methods as their papers have them
RUN_TWICE = ("kd", "kd-hybrid", "quadtree")  # and once as we have them

PARAMETER_NAMES = {"alpha": ALPHA, "c2": "c₂", "side": "m", "first_side": "m₁", "height": "h"}


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A method with the parameters that are not its own.

    Examples
    --------
    >>> Variant.of("ag", first_side=16, alpha=0.5).label
    'AG 16'
    >>> Variant.of("hierarchy", side=360, branching=2, levels=4).label
    'H 2,4'
    >>> Variant.of("staq", inference="bayes").label
    'STAQ, inference bayes'
    """

    method: str
    parameters: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, method: str, /, **parameters: Value) -> Self:
        """The variant of some parameters, whether or not they repeat the method's own."""
        own = _own_parameters(method)
        given = ((name, value) for name, value in parameters.items() if name not in own or own[name] != value)
        return cls(method=method, parameters=tuple(sorted(given)))

    def __getitem__(self, name: str) -> Value:
        return dict(self.parameters).get(name, _own_parameters(self.method).get(name))

    def has_only(self, *names: str) -> bool:
        """Whether exactly these parameters are not the method's own."""
        return {name for name, _ in self.parameters} == set(names)

    @property
    def label(self) -> str:
        """What figures call it."""
        name, rest = method_label(self.method), dict(self.parameters)
        if self.method == "hierarchy":
            rest = {}
            name = f"H {self['branching']},{self['levels']}"
        for size in ("side", "first_side"):
            if size in rest:
                name += f" {rest.pop(size)}"
        return ", ".join([name, *(f"{PARAMETER_NAMES.get(key, key)} {_text(value)}" for key, value in rest.items())])


def method_label(method: str) -> str:
    """What figures call a method; by its name where `METHODS` does not list it.

    Examples
    --------
    >>> method_label("kd"), method_label("kd-paper")
    ('KD-standard, ours', 'KD-standard')
    """
    base = method.removesuffix(PAPER)
    if base not in METHODS:
        return method
    title = METHODS[base].title
    return f"{title}, ours" if method in RUN_TWICE else title


@cache  # asked for every row
def _own_parameters(method: str) -> dict[str, Value]:
    fields: tuple[dataclasses.Field[Any], ...] = ()
    if method in METHODS:
        fields = dataclasses.fields(METHODS[method])  # type: ignore[arg-type]  # a Protocol cannot say that it is one
    return {field.name: cast("Value", field.default) for field in fields}


def _text(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
