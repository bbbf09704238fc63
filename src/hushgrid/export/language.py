"""The languages of a statement: a file of sentences each."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Formatter
from typing import Self

from hushgrid.errors import ArgumentError, InputError, quoted

SHIPPED = ("en", "de", "fr", "es")
COMPLETE = "en"  # has every key
NAMED_OTHERWISE = {"ge": "de", "sp": "es"}  # German, Spanish: the others begin with their code in both languages
LARGEST = 2**18  # bytes of a file of sentences


@dataclass(frozen=True, kw_only=True, eq=False)
class Language:
    """Sentences with places for facts, and how numbers are written.

    Examples
    --------
    >>> german = Language.of("de")
    >>> german.say("range", low=german.number(1234.5), high=german.number(7))
    '1.234,5 bis 7'
    """

    sentences: Mapping[str, str]

    @classmethod
    def of(cls, language: str | Path) -> Self:
        """A language that is shipped, or that of a file.

        Parameters
        ----------
        language : str or path
            ``en``, ``de``, ``fr`` or ``es``, or the path of a TOML file with the keys of ``en.toml``.
        """
        if str(language) in SHIPPED:
            return cls(sentences=_shipped(str(language)))
        if not str(language).endswith(".toml"):
            msg = f"language must be one of {', '.join(SHIPPED)}, or a file of sentences that ends in .toml, "
            msg += f"got {quoted(str(language))}."
            code = str(language)[:2].lower()
            code = NAMED_OTHERWISE.get(code, code)
            raise ArgumentError(msg, instead={"language": code if code in SHIPPED else COMPLETE})
        sentences = _read(Path(language))
        complaint = fault(sentences, _shipped(COMPLETE))
        if complaint is not None:
            msg = f"{language} cannot be used: {complaint}"
            raise InputError(msg)
        return cls(sentences=sentences)

    def say(self, key: str, **facts: object) -> str:
        """A sentence with the facts in it."""
        return self.sentences[key].format(**facts)

    def number(self, value: float, digits: int = 12) -> str:
        """A number to some significant digits."""
        return self.localised(f"{value:,.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}")

    def localised(self, text: str) -> str:
        """A number written in English, with this language's marks.

        Examples
        --------
        >>> Language.of("de").localised("1,234.5")
        '1.234,5'
        """
        marks = {",": self.sentences["thousands"], ".": self.sentences["decimal"]}
        return "".join(marks.get(character, character) for character in text)


def fault(sentences: Mapping[str, object], complete: Mapping[str, str]) -> str | None:
    """Why sentences cannot stand for the complete ones, or None.

    Examples
    --------
    >>> fault({"total": "in all"}, {"total": "{total} in all"})
    "the text of the key 'total' must have {total} in it, and nothing else in braces."
    """
    for key, original in complete.items():
        if key not in sentences:
            return f"the key {key!r} is missing. In English it is: {original}"
        text = sentences[key]
        if not isinstance(text, str) or not text:
            return f"the key {key!r} must have a text."
        wanted = _places(original)
        if _places(text) != wanted:
            names = " and ".join(f"{{{name}}}" for name in sorted(wanted or ())) or "no word in braces"
            return f"the text of the key {key!r} must have {names} in it, and nothing else in braces."
    unknown = sorted(set(sentences) - set(complete))
    return f"the key {unknown[0]!r} is not known; is it misspelt?" if unknown else None


def _places(text: str) -> set[str] | None:
    """Names in braces, None where braces are not right.

    They do not match then, or hold more than a name.
    """
    try:
        parts = [part[1:] for part in Formatter().parse(text) if part[1] is not None]
    except ValueError:
        return None
    if any(spec or conversion or not str(name).isidentifier() for name, spec, conversion in parts):
        return None
    return {str(name) for name, _, _ in parts}


def _shipped(code: str) -> dict[str, str]:
    text = (resources.files("hushgrid") / "data" / "statements" / f"{code}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _read(path: Path) -> dict[str, str]:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}."
        raise InputError(msg) from None
    if len(content) > LARGEST:
        msg = f"{path} is too large for a file of sentences."
        raise InputError(msg)
    try:
        return tomllib.loads(content.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"{path} is not TOML in UTF-8: {error}."
        raise InputError(msg) from None
