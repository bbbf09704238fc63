"""Text for people: tables, labels, numbers and titles."""

import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

WIDTH = 100  # columns of a terminal that text is wrapped to
JOINERS = "\u200c\u200d"  # nothing by themselves, but Persian, Hindi and many emoji are not written without


def is_shown(text: str) -> bool:
    """Whether all characters belong in a line of text.

    Signs do, spaces of any width and joiners. Control characters do not, as they would command a terminal; nor does
    half a pair of surrogates, which cannot be written.

    Examples
    --------
    >>> is_shown("Saint-Étienne"), is_shown("two" + chr(10) + "lines")
    (True, False)
    """
    return text.isprintable() or all(
        letter.isprintable() or letter in JOINERS or unicodedata.category(letter) == "Zs" for letter in text
    )


def shown(text: str, *, other: str = "?") -> str:
    """A text with another sign for what does not belong in a line.

    Examples
    --------
    >>> shown("Mail" + chr(27) + "[2J")
    'Mail?[2J'
    """
    return "".join(letter if is_shown(letter) else other for letter in text)


def aligned(rows: Sequence[Sequence[str]], *, left: int = 0) -> str:
    """Rows as lines of aligned columns.

    The first `left` columns are aligned to the left, the others, numbers, to the right.

    Examples
    --------
    >>> print(aligned([["place", "count"], ["Japan", "1,234"], ["Oz", "7"]], left=1))
    place  count
    Japan  1,234
    Oz         7
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = ["<"] * left + [">"] * (len(widths) - left)
    lines = (
        "  ".join(f"{text:{side}{width}}" for text, side, width in zip(row, sides, widths, strict=True)) for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def labelled(fields: Mapping[str, str]) -> str:
    """Fields as lines of a label and a text.

    Text is wrapped beside its label.

    Examples
    --------
    >>> print(labelled({"domain": "0,0,1,1", "epsilon": "1"}))
    domain   0,0,1,1
    epsilon  1
    """
    indent = max(map(len, fields)) + 2
    return "\n".join(
        textwrap.fill(
            text,
            WIDTH,
            initial_indent=label.ljust(indent),
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for label, text in fields.items()
    )


def whole(number: float) -> str:
    """A number rounded to a whole, with commas.

    Examples
    --------
    >>> whole(1234.5678), whole(-0.2)
    ('1,235', '0')
    """
    return f"{round(number):,}"


def several(number: int, noun: str) -> str:
    """A number of things, or one of them.

    Examples
    --------
    >>> several(1234, "cell"), several(1, "cell")
    ('1,234 cells', '1 cell')
    """
    return f"{number:,} {noun}s" if number > 1 else f"{number} {noun}"


RELEASE_ENDINGS = (".parquet", ".geoparquet", ".pq", ".dp")  # the last one is before another


def title_of(file: Path) -> str:
    """The name of a release file without its endings.

    Examples
    --------
    >>> title_of(Path("city/Trips 2024.dp.parquet"))
    'Trips 2024'
    """
    title = file.name
    for ending in RELEASE_ENDINGS:
        title = title.removesuffix(ending)
    return shown(title or file.name)
