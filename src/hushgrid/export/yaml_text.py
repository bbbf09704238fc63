"""YAML that every parser reads alike: blocks of keys, and values in quotes."""

from collections.abc import Mapping, Sequence

Yaml = str | int | float | Mapping[str, "Yaml"] | Sequence["Yaml"]


def yaml_text(value: Mapping[str, Yaml]) -> str:
    r"""A mapping as a YAML document.

    Examples
    --------
    >>> print(yaml_text({"name": "a \"b\": c\n", "parts": [{"epsilon": 0.5}, "no"]}), end="")
    name: "a \"b\": c\x0a"
    parts:
      - epsilon: 0.5
      - "no"
    """
    return "".join(f"{line}\n" for line in _lines(value))


def _lines(value: Yaml) -> list[str]:
    if isinstance(value, str):
        return [_quoted(value)]
    if isinstance(value, Mapping):
        return [line for key, each in value.items() for line in _field(key, each)]
    if isinstance(value, Sequence):
        return [line for each in value for line in _item(each)]
    return [repr(value)]


def _field(key: str, value: Yaml) -> list[str]:
    lines = _lines(value)
    if isinstance(value, str) or not isinstance(value, Mapping | Sequence):
        return [f"{key}: {lines[0]}"]
    return [f"{key}:", *(f"  {line}" for line in lines)]


def _item(value: Yaml) -> list[str]:
    first, *others = _lines(value)
    return [f"- {first}", *(f"  {line}" for line in others)]


def _quoted(text: str) -> str:
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
