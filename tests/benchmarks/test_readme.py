"""Numbers of speed in the README are those of the committed benchmarks."""

import json
import re

import pytest

from tests.docs.page import ROOT

README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
RESULTS = ROOT / "benchmarks" / "results"
NUMBER = r"([\d.,]+)"
SENTENCES = {  # in the README: the file, and the row and measure in it
    f"counting is {NUMBER} times as fast as chunked `numpy.bincount`": ("bench.md", "UG counting", "x chunked"),
    f"{NUMBER} times as fast as `numpy.histogram2d`": ("bench.md", "UG counting", "x numpy.histogram2d"),
    f"exact noise is {NUMBER} times as fast": ("bench.md", "exact noise, 1e7 draws, rate 0.1", "x numpy"),
    f"within {NUMBER} GB, and": ("scale.md", "UG, 1e9 points", "GB at the peak"),
    f"by `staq` within {NUMBER} GB": ("scale.md", "STAQ, 1e9 points", "GB at the peak"),
}


def measured(file, row, unit):
    """The number in the second column of a table of benchmarks."""
    for line in (RESULTS / file).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 3 and cells[1].startswith(row) and unit in cells[2]:
            return float(cells[2].split()[0].replace(",", ""))
    pytest.fail(f"{file} has no row {row}, {unit}")


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_says_what_was_measured(sentence):
    """To as many digits as it shows."""
    [stated] = re.findall(sentence, README)
    digits = len(stated.partition(".")[2])

    assert float(stated) == round(measured(*SENTENCES[sentence]), digits)


def test_the_table_of_peers_is_that_of_the_run():
    """Seconds, memory and errors of every line."""
    peers = json.loads((RESULTS / "peers.json").read_text(encoding="utf-8"))["peers"]
    stated = [
        [float(cell.replace(",", "")) for cell in line[1:6]]
        for line in re.findall(r"^\| ([^|]+) \| " + r" \| ".join([NUMBER] * 5) + r" \|", _lines(), re.MULTILINE)
    ]
    found = [
        [
            round(peer["seconds"], 1),
            round(peer["again_seconds"], 1),
            round(peer["megabytes"]),
            round(peer["relative_error"], 4),
            round(peer["absolute_error"]),
        ]
        for peer in peers
    ]

    assert sorted(stated) == sorted(found)


def _lines():
    return (ROOT / "README.md").read_text(encoding="utf-8")
