"""Typed values from untrusted JSON, and rationals."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NoReturn, Self, TypeGuard

from hushgrid.errors import SynopsisFileError
from hushgrid.text import is_shown

Scalar = int | float | str | bool | None


class JsonObject:
    """A JSON object that knows where it stands.

    So errors can say what is wrong where.

    Examples
    --------
    >>> claim = JsonObject.parse(b'{"claim": {"epsilon": "1/10"}}').child("claim")
    >>> claim.rational("epsilon")
    Fraction(1, 10)
    >>> claim.whole("max_per_unit")
    Traceback (most recent call last):
    hushgrid.errors.SynopsisFileError: claim.max_per_unit is missing.
    """

    def __init__(self, values: Mapping[str, Any], *, place: str = "") -> None:
        self._values = values
        self._place = place

    @classmethod
    def parse(cls, text: bytes) -> Self:
        """The object in a text.

        NaN, infinities and repeated keys are errors.
        """
        try:
            values = json.loads(text.decode(), object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            msg = "its metadata is not valid JSON."
            raise SynopsisFileError(msg) from error
        if not isinstance(values, dict):
            msg = "its metadata is not a JSON object."
            raise SynopsisFileError(msg)
        return cls(values)

    def only(self, *keys: str) -> None:
        """Refuse any other key.

        It could change the meaning of those that are known.
        """
        for key in self._values:
            if key not in keys:
                msg = f"the key {self._place + key[:40]!r} is not known to this version of hushgrid."
                raise SynopsisFileError(msg)

    def has(self, key: str) -> bool:
        """Whether a key is there; older files lack some."""
        return key in self._values

    def raw(self, key: str) -> Any:
        """Any value, for a reader that checks it itself."""
        return self._get(key)

    def text(self, key: str, *, among: tuple[str, ...] = ()) -> str:
        """A text, one of `among` where given."""
        value = self._get(key)
        if not _is_text(value):
            self._refuse(key, "must be a text of printable characters")
        if among and value not in among:
            self._refuse(key, f"must be {' or '.join(map(repr, among))}, not {value[:40]!r}")
        return value

    def text_or_none(self, key: str) -> str | None:
        """A text, or null."""
        return None if self._get(key) is None else self.text(key)

    def sha256(self, key: str) -> str:
        """A SHA-256 in hexadecimal digits."""
        value = self.text(key)
        if re.fullmatch("[0-9a-f]{64}", value) is None:
            self._refuse(key, "must be the 64 hexadecimal digits of a SHA-256")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        values = self._get(key)
        if not isinstance(values, list) or not all(map(_is_text, values)):
            self._refuse(key, "must be a list of texts of printable characters")
        return tuple(values)

    def whole(self, key: str, *, low: int | None = None, high: int | None = None) -> int:
        """An integer, not below `low` nor above `high`."""
        value = self._get(key)
        if isinstance(value, bool) or not isinstance(value, int):
            self._refuse(key, "must be a whole number")
        if (low is not None and value < low) or (high is not None and value > high):
            allowed = f"at least {low:,}" if high is None else f"between {low:,} and {high:,}"
            self._refuse(key, f"must be {allowed}")
        return value

    def wholes(self, key: str, *, low: int, high: int) -> tuple[int, ...]:
        """A list of integers, none below `low` or above `high`."""
        values = self._get(key)
        good = isinstance(values, list) and all(type(value) is int and low <= value <= high for value in values)
        if not good:
            self._refuse(key, f"must be a list of whole numbers from {low:,} to {high:,}")
        return tuple(values)

    def number(self, key: str) -> float:
        """A finite number."""
        value = self._get(key)
        if not _is_number(value):
            self._refuse(key, "must be a finite number")
        return float(value)

    def numbers(self, key: str) -> tuple[float, ...]:
        """A list of finite numbers."""
        values = self._get(key)
        if not isinstance(values, list) or not all(map(_is_number, values)):
            self._refuse(key, "must be a list of finite numbers")
        return tuple(map(float, values))

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self._get(key)
        if not isinstance(value, bool):
            self._refuse(key, "must be true or false")
        return value

    def rational(self, key: str, *, high: Fraction | None = None) -> Fraction:
        """A rational above zero, such as 1/10."""
        value = parse_rational(self.text(key))
        if value is None or (high is not None and value > high):
            self._refuse(key, "must be a fraction above zero in lowest terms, such as '1/10'")
        return value

    def child(self, key: str) -> "JsonObject":
        """The object under a key."""
        return JsonObject(self._get_object(key), place=f"{self._place}{key}.")

    def child_or_none(self, key: str) -> "JsonObject | None":
        """An object, or null."""
        return None if self._get(key) is None else self.child(key)

    def children(self, key: str) -> list["JsonObject"]:
        """A list of objects."""
        values = self._get(key)
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            self._refuse(key, "must be a list of objects")
        return [JsonObject(value, place=f"{self._place}{key}[{index}].") for index, value in enumerate(values)]

    def scalars(self, key: str) -> dict[str, Scalar]:
        """An object of texts, finite numbers, flags and nulls."""
        values = self._get_object(key)
        for name, value in values.items():
            if not (
                _is_text(name) and (value is None or isinstance(value, bool) or _is_text(value) or _is_number(value))
            ):
                self._refuse(key, "must hold texts, finite numbers, true, false and null only")
        return values

    def _get_object(self, key: str) -> dict[str, Any]:
        value = self._get(key)
        if not isinstance(value, dict):
            self._refuse(key, "must be an object")
        return value

    def _get(self, key: str) -> Any:
        if key not in self._values:
            self._refuse(key, "is missing")
        return self._values[key]

    def _refuse(self, key: str, complaint: str) -> NoReturn:
        msg = f"{self._place}{key} {complaint}."
        raise SynopsisFileError(msg)


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and is_shown("".join(value.split()))


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        msg = "a key is repeated"
        raise ValueError(msg)
    return values


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


LONGEST_RATIONAL = 512  # characters
WIDEST_DENOMINATOR = 2048  # bits, of sums
RATIONAL = re.compile(r"[1-9][0-9]*(/[1-9][0-9]*)?", re.ASCII)


def parse_rational(text: str) -> Fraction | None:
    """The rational above zero in a text, or None.

    The text must be what `str` writes of a Fraction.

    Examples
    --------
    >>> parse_rational("99/200"), parse_rational("2/4"), parse_rational("-1")
    (Fraction(99, 200), None, None)
    """
    if len(text) > LONGEST_RATIONAL or not RATIONAL.fullmatch(text):
        return None
    value = Fraction(text)
    return value if str(value) == text else None


def check_common_denominator(rationals: Iterable[Fraction]) -> None:
    """Refuse rationals whose exact sums would be too long."""
    common = 1
    for rational in rationals:
        common = math.lcm(common, rational.denominator)
        if common.bit_length() > WIDEST_DENOMINATOR:
            msg = "its rates or epsilons have no common denominator of reasonable size."
            raise SynopsisFileError(msg)
