"""What a PDF of a browser holds: its number of pages, and its text."""

import re
import zlib

PAGE = re.compile(rb"/Type\s*/Page\b")
STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
HEX = re.compile(rb"<([0-9a-fA-F]+)>")
LETTERS = re.compile(rb"begin(bfchar|bfrange)(.*?)end\1", re.DOTALL)


def number_of_pages(pdf):
    """Number of pages of a PDF."""
    return len(PAGE.findall(pdf))


def texts_of(pdf):
    """The text of a PDF without spaces, once by the letters of each of its fonts.

    Letters of other fonts are missing from each.
    """
    streams = [_unpacked(stream) for stream in STREAM.findall(pdf)]
    fonts = [_letters(stream) for stream in streams if b"beginbfchar" in stream or b"beginbfrange" in stream]
    shown = [code for stream in streams if b" Tj" in stream or b"TJ" in stream for code in HEX.findall(stream)]
    codes = [int(code[i : i + 4], 16) for code in shown for i in range(0, len(code), 4)]
    return ["".join(font.get(code, "") for code in codes).replace(" ", "").replace("\xa0", "") for font in fonts]


def _unpacked(stream):
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return stream


def _letters(table):
    """Letters by their codes, out of a table of a font (ISO 32000-1, 9.10.3)."""
    found = {}
    for kind, rows in LETTERS.findall(table):
        numbers = [int(number, 16) for number in HEX.findall(rows)]
        if kind == b"bfchar":
            found |= {code: chr(letter) for code, letter in zip(numbers[::2], numbers[1::2], strict=True)}
            continue
        for first, last, letter in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
            found |= {code: chr(letter + code - first) for code in range(first, last + 1)}
    return found
