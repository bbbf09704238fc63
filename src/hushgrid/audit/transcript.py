"""The random draws of a release: recorded, forced and priced.

A release is a function of the data and of what it draws. The audit stands between a build and its samplers. It records
what goes in (true values, rates) and what comes out, and can give another data set the same values. The difference in
what the two data sets put in then says exactly how much likelier the values are on one of them.
"""

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hushgrid.audit import laws
from hushgrid.privacy import bits as bits_module
from hushgrid.privacy import laplace, mixture, selection
from hushgrid.privacy.bits import Bits

Kind = Literal["noise", "choice", "coin", "bits"]
Policy = Literal["real", "exact", "above"]

FAR_ABOVE = 40  # noise that divides every cell and passes every threshold of the small routes
TOLERANCE = 1e-9
HUGE = 10**6


@dataclass(frozen=True, kw_only=True, eq=False)
class Draw:
    """One call of a sampler.

    Parameters
    ----------
    kind : "noise", "choice", "coin" or "bits"
    public : tuple
        What may not depend on the data: shapes, rates, which candidates there are.
    true_values : array
        What went in: counts, scores or gaps. Nothing for bits.
    rates : array of float
        Rate of each value, or one number for all.
    released : array or int
        What came out.
    """

    kind: Kind
    public: tuple[object, ...]
    true_values: Any
    rates: Any
    released: Any


class DivergedError(Exception):
    """A data set asks for other draws."""


class ScriptedBits(Bits):
    """Bits that a script records or repeats."""

    simulation: ClassVar[bool] = False

    def __init__(self, script: "Script") -> None:
        self._script = script

    def words(self, count: int) -> NDArray[np.uint32]:
        """Uniform words."""
        return np.asarray(self._script.raw(("words", count), lambda bits: bits.words(count)))

    def integer(self, bit_count: int) -> int:
        """Uniform integer."""
        return int(self._script.raw(("integer", bit_count), lambda bits: bits.integer(bit_count)))


class Script:
    """Records a release's draws, or repeats another's.

    It stands in for the samplers.

    Parameters
    ----------
    inner : Bits
        Where real noise comes from.
    policy : "real", "exact" or "above"
        Noise as the sampler draws it, none at all, or so much that every cell looks full.
    given : sequence of Draw, optional
        What to repeat, whatever the data.
    """

    def __init__(self, inner: Bits, *, policy: Policy = "real", given: Sequence[Draw] | None = None) -> None:
        self.bits = ScriptedBits(self)
        self.draws: list[Draw] = []
        self.diverged: str | None = None
        self.foreign = False
        self.inner = inner
        self._policy = policy
        self._given = given

    def finish(self) -> None:
        """Notice draws that were not asked for."""
        if self._given is not None and self.diverged is None and len(self.draws) < len(self._given):
            self.diverged = f"it stopped after {len(self.draws)} draws of {len(self._given)}"

    def raw(self, what: tuple[object, ...], draw: Callable[[Bits], Any]) -> Any:
        """Bits read past the samplers.

        The key that chooses records is drawn like this.
        """
        repeated = self._repeated("bits", what)
        released = draw(self.inner) if repeated is None else repeated
        self._note(Draw(kind="bits", public=what, true_values=None, rates=0.0, released=released))
        return released

    def noise(self, true_counts: Any, public: tuple[object, ...], rates: Any, draw: Callable[[Bits], Any]) -> Any:
        """Counts with noise."""
        counts = np.array(true_counts, np.int64)
        released = self._repeated("noise", public)
        if released is None:
            released = draw(self.inner) if self._policy == "real" else counts + FAR_ABOVE * (self._policy == "above")
        self._note(Draw(kind="noise", public=public, true_values=counts, rates=rates, released=released))
        return np.array(released)

    def choice(self, true_scores: Any, allowed: Any, rate: Fraction, draw: Callable[[Bits], Any]) -> Any:
        """The column chosen in each row."""
        scores, possible = np.array(true_scores, np.int64), np.array(allowed, bool)
        public = (scores.shape, str(rate), possible.tobytes())
        released = self._repeated("choice", public)
        if released is None and self._policy == "exact":
            released = np.argmax(np.where(possible, scores, np.iinfo(np.int64).min), axis=1)
        elif released is None:
            released = draw(self.inner)
        true_values = np.where(possible, scores, np.iinfo(np.int64).min)
        self._note(Draw(kind="choice", public=public, true_values=true_values, rates=float(rate), released=released))
        return np.array(released)

    def coin(self, true_gaps: Any, rate: Fraction, draw: Callable[[Bits], Any]) -> Any:
        """Heads or tails for each gap."""
        gaps = np.array(true_gaps, np.int64)
        public = (gaps.shape, str(rate))
        released = self._repeated("coin", public)
        released = draw(self.inner) if released is None else released
        self._note(Draw(kind="coin", public=public, true_values=gaps, rates=float(rate), released=released))
        return np.array(released)

    def _repeated(self, kind: Kind, public: tuple[object, ...]) -> Any:
        if self._given is None:
            return None
        number = len(self.draws)
        expected = self._given[number] if number < len(self._given) else None
        if expected is None or (expected.kind, expected.public) != (kind, public):
            asked = "nothing more was" if expected is None else f"{expected.kind} of {_briefly(expected.public)} was"
            self.diverged = f"draw {number + 1} was {kind} of {_briefly(public)}, where {asked} asked for"
            raise DivergedError(self.diverged)
        return expected.released

    def _note(self, draw: Draw) -> None:
        self.draws.append(draw)


def _briefly(public: tuple[object, ...]) -> str:
    return ", ".join(str(part) for part in public if not isinstance(part, bytes))[:120]


# A script stands in for each of these, wherever it was imported to.
_SAMPLERS: dict[str, Callable[..., Any]] = {
    "add_noise": laplace.add_noise,
    "discrete_laplace": laplace.discrete_laplace,
    "geometric": laplace.geometric,
    "add_noise_each": mixture.add_noise_each,
    "permute_and_flip": selection.permute_and_flip,
    "flip_exp_each": selection.flip_exp_each,
}


@contextmanager
def instrumented() -> Iterator[Callable[[Script | None], None]]:
    """Have a script stand in for all samplers.

    Call what this yields to say which script.
    """
    current: list[Script | None] = [None]

    def sampler(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)

        def stand_in(*args: Any, **options: Any) -> Any:
            script = current[0]
            given = signature.bind(*args, **options).arguments
            if script is None or given.get("bits") is not script.bits:
                # Calibration draws seeded noise. Any other source that is not ours is a finding.
                source = given.get("bits")
                if script is not None and source is not script.inner and not getattr(source, "simulation", False):
                    script.foreign = True
                return original(*args, **options)
            return _answer(script, name, given, lambda bits: original(**{**given, "bits": bits}))

        return stand_in

    def bits() -> Bits:
        return original_bits() if current[0] is None else current[0].bits

    original_bits = bits_module.SystemBits
    stand_ins = {id(original): sampler(name, original) for name, original in _SAMPLERS.items()}
    stand_ins[id(original_bits)] = bits
    originals = {
        id(stand_in): original
        for original, stand_in in zip((*_SAMPLERS.values(), original_bits), stand_ins.values(), strict=True)
    }

    def use(script: Script | None) -> None:
        current[0] = script

    _swap(stand_ins)
    try:
        yield use
    finally:
        use(None)
        _swap(originals)


def _answer(script: Script, name: str, given: dict[str, Any], draw: Callable[[Bits], Any]) -> Any:
    if name == "permute_and_flip":
        return script.choice(given["true_scores"], given["allowed"], given["rate"], draw)
    if name == "flip_exp_each":
        return script.coin(given["true_gaps"], given["rate"], draw)
    if name == "add_noise_each":
        rates, index = tuple(given["rates"]), np.array(given["rate_index"], np.int64)
        each = np.array([*map(float, rates), 0.0])[index]
        return script.noise(given["true_counts"], (index.shape, rates, index.tobytes()), each, draw)
    if name in ("discrete_laplace", "geometric"):
        return script.raw((name, given["size"], given["rate"]), draw)
    shape = np.shape(given["true_counts"])
    return script.noise(given["true_counts"], (shape, Fraction(given["rate"])), float(given["rate"]), draw)


def _swap(stand_ins: dict[int, Any]) -> None:
    """Replace functions wherever the build holds them."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] != "hushgrid" or name.startswith("hushgrid.audit") or module is None:
            continue
        for attribute, value in list(vars(module).items()):
            if id(value) in stand_ins:
                setattr(module, attribute, stand_ins[id(value)])


def loss(first: Sequence[Draw], second: Sequence[Draw], *, by_sign: frozenset[int] = frozenset()) -> float:
    """The largest log-ratio that the draws allow.

    It is how well they tell two data sets apart.

    For counts and choices it is the largest over all values that a draw could have given, which is what their proofs
    add up. A draw that shows only its sign, such as a decision of PrivTree, counts with the sign that it had.

    Parameters
    ----------
    first, second : sequence of Draw
        Draws of the two data sets, with the same values released.
    by_sign : set of int
        Draws that show nothing but their sign.
    """
    largest, decided = 0.0, 0.0
    for number, (one, other) in enumerate(zip(first, second, strict=True)):
        if one.kind == "noise" and number in by_sign:
            decided += _decision_loss(one, other)
        elif one.kind == "noise":
            largest += float(np.sum(one.rates * np.abs(one.true_values - other.true_values)))
        elif one.kind == "choice":
            largest += _choice_loss(one, other)
        elif one.kind == "coin":
            largest += _coin_loss(one, other)
    return largest + abs(decided)


def _decision_loss(one: Draw, other: Draw) -> float:
    total = 0.0
    rates = np.broadcast_to(one.rates, np.shape(one.true_values))
    for place in np.argwhere(one.true_values != other.true_values):
        where = tuple(place)
        divided = np.asarray(one.released[where] > 0)
        logs = [laws.log_decision(draw.true_values[where], divided, float(rates[where])) for draw in (one, other)]
        total += float(logs[0] - logs[1])
    return total


def _choice_loss(one: Draw, other: Draw) -> float:
    total = 0.0
    for row in np.flatnonzero(np.any(one.true_values != other.true_values, axis=1)):
        possible = one.true_values[row] > np.iinfo(np.int64).min
        shares = [laws.choice(draw.true_values[row][possible], draw.rates) for draw in (one, other)]
        total += float(np.max(np.abs(np.log(shares[0]) - np.log(shares[1]))))
    return total


def _coin_loss(one: Draw, other: Draw) -> float:
    changed = one.true_values != other.true_values
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [laws.heads(np.maximum(draw.true_values[changed], 0), draw.rates) for draw in (one, other)]
        ratios = [np.abs(np.log(a) - np.log(b)) for a, b in (shares, [1 - share for share in shares])]
    return float(np.sum(np.nanmax(ratios, axis=0))) if changed.any() else 0.0


def with_other_sizes(draws: Sequence[Draw], number: int) -> Iterator[list[Draw]]:
    """The draws, with one changed in size only.

    Its signs stay; its sizes become the smallest possible, then huge.
    """
    signs = np.asarray(draws[number].released) > 0
    for sizes in (np.where(signs, 1, 0), np.where(signs, HUGE, -HUGE)):
        changed = list(draws)
        changed[number] = replace(draws[number], released=sizes)
        yield changed


def same_values(first: Sequence[Draw], second: Sequence[Draw]) -> bool:
    """Whether two data sets put in equal values."""
    return all(
        np.array_equal(one.true_values, other.true_values)
        for one, other in zip(first, second, strict=True)
        if one.true_values is not None
    )
