"""Whether a page shows what is printed."""

import re
from collections.abc import Collection
from itertools import pairwise

ANYTHING = "..."
SLACK = 50  # several standard deviations of the noise in a count at epsilon 1
FACTOR = 2

NUMBER = re.compile(
    r"(?<![\w.])(?<![A-Za-z]-)"  # neither inside a name, such as SHA-256, nor inside a version
    r"([-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?)"
    r"(?![\d.]*\d)",
    re.IGNORECASE,
)
MASKED = (
    (re.compile(r"\b[0-9a-f]{16,}\b"), "HASH"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DAY"),
    (re.compile(r"(?<=127\.0\.0\.1:)\d+"), "PORT"),
    (re.compile(r"[\u2500-\u257f]+"), " "),
)


def numbers(text: str) -> set[float]:
    """The numbers in a text.

    Examples
    --------
    >>> sorted(numbers("--epsilon 1 --rect -74.02,40.7 of 1,234 by SHA-256"))
    [-74.02, 1.0, 40.7, 1234.0]
    """
    return {_value(match) for match in NUMBER.findall(text)}


def same(shown: str, printed: str, *, given: Collection[float] = ()) -> bool:
    """Whether a printed text is the shown one but for what noise, the day and the terminal decide.

    Texts are compared word by word, so that widths and line breaks do not matter, nor do lines of boxes. Hashes, times
    and ports of this machine stand for any other. Three dots, as a word, stand for anything. Numbers may differ, as
    noise makes them: by 50, or by a factor of two; but a number that is given, by the commands of the page, is printed
    as it is shown.

    Examples
    --------
    >>> same("12,345 points   at epsilon 1", "11,987 points at epsilon 1", given={1})
    True
    >>> same("12,345 points at epsilon 1", "11,987 points at epsilon 2", given={1})
    False
    >>> same("a b ... y z", "a b c d y z"), same("a b ...", "a c")
    (True, False)
    """
    wanted, words = _words(shown), _words(printed)
    dots = [-1, *(place for place, word in enumerate(wanted) if word == ANYTHING), len(wanted)]
    chunks = [wanted[before + 1 : after] for before, after in pairwise(dots)]
    if len(chunks) == 1:
        return _same_words(wanted, words, given)
    first, *middle, last = chunks
    begin, end = len(first), len(words) - len(last)
    if begin > end or not _same_words(first, words[:begin], given) or not _same_words(last, words[end:], given):
        return False
    for chunk in middle:
        places = range(begin, end - len(chunk) + 1)
        found = next((place for place in places if _same_words(chunk, words[place : place + len(chunk)], given)), None)
        if found is None:
            return False
        begin = found + len(chunk)
    return True


def _words(text: str) -> list[str]:
    for pattern, mask in MASKED:
        text = pattern.sub(mask, text)
    # A rule under the names of columns is as wide as they are.
    return re.sub(r"[-=]{3,}", "---", text).split()


def _same_words(wanted: list[str], words: list[str], given: Collection[float]) -> bool:
    return len(wanted) == len(words) and all(
        _same_word(left, right, given) for left, right in zip(wanted, words, strict=True)
    )


def _same_word(shown: str, printed: str, given: Collection[float]) -> bool:
    if shown == printed:
        return True
    left, right = NUMBER.split(shown), NUMBER.split(printed)
    return left[::2] == right[::2] and all(
        text == other or _near(_value(text), _value(other), given)
        for text, other in zip(left[1::2], right[1::2], strict=True)
    )


def _near(shown: float, printed: float, given: Collection[float]) -> bool:
    if shown == printed:
        return True
    if shown and shown in given:
        return False
    small, large = sorted((shown, printed))
    return large - small <= SLACK or (small > 0 and large <= FACTOR * small) or (large < 0 and small >= FACTOR * large)


def _value(text: str) -> float:
    return float(text.replace(",", ""))
