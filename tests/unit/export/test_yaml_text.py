"""YAML written here is read back by a parser that was not."""

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hushgrid.export.registry import yaml_text

KEYS = st.text(alphabet="abcdefgh_", min_size=3, max_size=12)
TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)
LEAVES = TEXTS | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False, width=32)
VALUES = st.recursive(
    LEAVES,
    lambda parts: st.dictionaries(KEYS, parts, min_size=1, max_size=4) | st.lists(parts, min_size=1, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=5))
def test_what_is_written_is_read(value: dict[str, object]) -> None:
    """Any text, numbers, and mappings and lists within each other."""
    assert yaml.safe_load(yaml_text(value)) == value  # type: ignore[arg-type]


AWKWARD = [
    "",
    "no",
    "1.5",
    "- item",
    "a: b # c",
    "'",
    '"',
    "\\",
    "\n\n",
    "\t",
    "\x00",
    "\x85",
    "\u2028",
    "\ufeff",
    "😀",
    "{",
    "~",
]


def test_awkward_texts_stay_texts() -> None:
    """Those that YAML would read as something else, and those that it could not read at all."""
    assert yaml.safe_load(yaml_text({"texts": AWKWARD})) == {"texts": AWKWARD}
