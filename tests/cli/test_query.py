"""`hushgrid query`: rectangles in, estimates out."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hushgrid as hg
from tests.cli.commands import DOMAIN, Run, assert_refused

RECTS = [(-74.0, 40.7, -73.9, 40.8), (-73.9, 40.7, -73.8, 40.8)]
TEXTS = [",".join(map(str, rect)) for rect in RECTS]
HEADER = "west,south,east,north"
LINES = "\n".join(TEXTS)


def answers(text: str) -> np.ndarray:
    """The numbers of a CSV answer."""
    header, *rows = csv.reader(io.StringIO(text))
    assert header == ["west", "south", "east", "north", "estimate", "low", "high"]
    return np.array(rows, float).reshape(-1, 7)


def expected(release: Path, rects: list[tuple[float, ...]], confidence: float = 0.95) -> np.ndarray:
    """The same numbers, from the library."""
    answer = hg.read(release).answer(rects, confidence=confidence)
    return np.column_stack([rects, answer.estimate, answer.low, answer.high])


@pytest.mark.parametrize("joiner", [" ", "="])
def test_csv_holds_the_library_s_answers_bit_for_bit(run: Run, release: Path, joiner: str) -> None:
    """Negative rectangles are read in both spellings, and no digit is lost on the way out."""
    options = " ".join(f"--rect{joiner}{text}" for text in TEXTS).split()

    result = run("query", release, *options, "--csv")
    assert result.stderr == ""
    assert np.array_equal(answers(result.stdout), expected(release, RECTS))


def test_json_holds_the_same(run: Run, release: Path) -> None:
    """One record a rectangle, with both parts of its uncertainty."""
    result = run("query", release, "--rect", TEXTS[0], "--confidence", "0.5", "--json")

    parsed = json.loads(result.stdout)
    answer = hg.read(release).answer(RECTS[0], confidence=0.5)
    assert (parsed["file"], parsed["simulation"], parsed["confidence"]) == (str(release), False, 0.5)
    assert parsed["answers"] == [{**dict(zip(HEADER.split(","), RECTS[0], strict=True)), **vars(answer)}]


def test_the_table_is_aligned_and_says_that_counts_are_estimates(run: Run, release: Path) -> None:
    """Numbers end under the ends of their names; the confidence stands below."""
    result = run("query", release, "--rect", TEXTS[0], "--rect=-180,-90,180,90", "--confidence", "0.999")

    lines = result.stdout.splitlines()
    assert lines[0].split() == ["west", "south", "east", "north", "estimate", "low", "high"]
    assert len({len(line) for line in lines[:3]}) == 1
    assert f"{round(hg.read(release).total):,}" in lines[2]
    assert "Counts are estimates" in result.stdout
    assert "99.9 % confidence" in result.stdout


def test_an_estimate_below_zero_is_explained(run: Run, points: pa.Table) -> None:
    """An estimate below zero is explained, and no other."""
    release = Path("trips.dp.parquet")
    synopsis = hg.publish(points, domain=DOMAIN, epsilon=1, method="ug")
    synopsis.save(release)
    bounds = synopsis.partition.bounds()
    below, above = bounds[np.argmin(synopsis.counts)], bounds[np.argmax(synopsis.counts)]

    for rect, explained in ((below, True), (above, False)):
        result = run("query", release, "--rect", ",".join(map(repr, rect.tolist())))
        assert ("below zero" in result.stdout) is explained
        assert ("not usable" in result.stdout) is explained


FILES = {
    "with a header": f"{HEADER}\n{LINES}\n",
    "without a header": LINES,
    "with a byte-order mark": f"\ufeff{HEADER}\n{LINES}",
    "with Windows line ends": f"{HEADER}\n{LINES}\n".replace("\n", "\r\n"),
    "with blank lines and spaces": f"West, South ,EAST,north\n\n{LINES.replace(',', ' , ')}\n\n",
    "with other columns": "name,north,east,south,west\n" + "\n".join(f"=1+1,{n},{e},{s},{w}" for w, s, e, n in RECTS),
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES.keys())
@pytest.mark.parametrize("source", ["file", "stdin"])
def test_rectangles_are_read_from_csv(run: Run, release: Path, text: str, source: str) -> None:
    """A file and standard input give what --rect gives."""
    Path("areas.csv").write_bytes(text.encode())
    where, stdin = ("areas.csv", None) if source == "file" else ("-", text.encode())

    result = run("query", release, "--rects", where, "--csv", stdin=stdin)
    assert np.array_equal(answers(result.stdout), expected(release, RECTS))


def test_an_answer_can_be_asked_again(run: Run, release: Path) -> None:
    """The CSV that comes out goes in as it is, and gives itself."""
    first = run("query", release, "--rect", TEXTS[0], "--rect", TEXTS[1], "--csv").stdout

    assert run("query", release, "--rects", "-", "--csv", stdin=first).stdout == first


@pytest.mark.parametrize("text", ["", HEADER], ids=["empty", "a header alone"])
def test_no_rectangles_give_no_answers(run: Run, release: Path, text: str) -> None:
    """A file without rectangles is answered by a header, an empty list and an empty table."""
    assert len(answers(run("query", release, "--rects", "-", "--csv", stdin=text).stdout)) == 0
    assert json.loads(run("query", release, "--rects", "-", "--json", stdin=text).stdout)["answers"] == []
    assert run("query", release, "--rects", "-", stdin=text).exit_code == 0


def test_a_side_without_bound_is_null_in_json(run: Run, release: Path) -> None:
    """JSON has no infinity, and strict parsers refuse one."""
    result = run("query", release, "--rect", "-inf,40,-73.9,41", "--json")

    parsed = json.loads(result.stdout, parse_constant=pytest.fail)
    assert parsed["answers"][0]["west"] is None


BAD_ARGUMENTS = {
    "no rectangles": ([], ["--rect", "--rects"]),
    "both sources": (["--rect", TEXTS[0], "--rects", "-"], ["--rect", "--rects"]),
    "three numbers": (["--rect", "1,2,3"], ["four numbers W,S,E,N", "'1,2,3'"]),
    "words": (["--rect", "a,b,c,d"], ["four numbers W,S,E,N", "'a,b,c,d'"]),
    "inverted": (["--rect", TEXTS[0], "--rect", "5,2,3,4"], ["rectangle 1", "5,2,3,4", "inverted"]),
    "empty": (["--rect", "1,2,1,4"], ["1,2,1,4", "empty"]),
    "NaN": (["--rect", "nan,2,1,4"], ["nan,2,1,4", "NaN"]),
    "confidence in percent": (["--rect", TEXTS[0], "--confidence", "95"], ["confidence", "95", "0.95"]),
    "two formats": (["--rect", TEXTS[0], "--json", "--csv"], ["--json", "--csv"]),
}


@pytest.mark.parametrize(("options", "words"), BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS.keys())
def test_a_bad_argument_is_refused(run: Run, release: Path, options: list[str], words: list[str]) -> None:
    """A bad argument ends with exit code 2 and one line."""
    assert_refused(run("query", release, *options), 2, *words)


BAD_LINES = {
    "a column missing": ("west,south,east\n1,2,3", ["first line", "'west,south,east'"]),
    "a column twice": (f"{HEADER},west\n1,2,3,4,5", ["first line", "once each"]),
    "a line too short": (f"{HEADER}\n1,2,3", ["line 2", "four numbers"]),
    "words": (f"{LINES}\n1,2,x,4", ["line 3", "'1,2,x,4'"]),
    "inverted": (f"{LINES}\n5,2,3,4", ["rectangle 2", "5,2,3,4", "inverted"]),
    "no text": ("\x00\ufffd", ["line 1"]),
}


@pytest.mark.parametrize(("text", "words"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_is_named(run: Run, release: Path, text: str, words: list[str]) -> None:
    """The exit code is 3, and the message says where to look."""
    assert_refused(run("query", release, "--rects", "-", stdin=text), 3, "standard input", *words)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(lambda path: None, ["No such file"], id="missing"),
        pytest.param(Path.mkdir, ["directory"], id="folder"),
        pytest.param(lambda path: path.write_bytes(b"PAR1\xff\xfe"), ["not CSV text"], id="binary"),
    ],
)
def test_a_file_of_rectangles_that_cannot_be_read_is_refused(run: Run, release: Path, make, words) -> None:
    """The exit code is 3, and the message names the file."""
    make(Path("areas.csv"))

    assert_refused(run("query", release, "--rects", "areas.csv"), 3, "areas.csv", *words)
