"""Numbers of the README and of docs/ follow from the committed rows."""

import re

import pytest

from experiments.report.claim import Evidence
from experiments.report.passages import MARKED, PASSAGES, filled, write_passages
from experiments.results import Results
from tests.docs.page import ROOT

ROWS = ROOT / "experiments" / "results" / "rows.parquet"
PAGES = [
    path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if MARKED.search(path.read_text())
]


@pytest.fixture(scope="module")
def evidence():
    """The committed rows."""
    return Evidence(rows=Results(ROWS).rows())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_passages_are_what_the_rows_say(page, evidence):
    """`python -m experiments docs` would change nothing."""
    text = page.read_text(encoding="utf-8")

    assert filled(text, evidence) == text


def test_every_passage_has_a_place_of_its_own():
    """Each is on one page, and no mark is without one."""
    marks = [found[2] for page in PAGES for found in MARKED.finditer(page.read_text(encoding="utf-8"))]
    opened = sum(page.read_text(encoding="utf-8").count("<!-- rows:") for page in PAGES)

    assert sorted(marks) == sorted(PASSAGES)
    assert opened == len(marks)


def test_pages_that_tell_it_in_short_have_the_same_numbers(evidence):
    """What STAQ and its stages gain is on two more pages, without standard errors."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PASSAGES["stages"](evidence).splitlines()]
    page = (ROOT / "docs" / "explanation" / "how-staq-works.md").read_text(encoding="utf-8")
    for epsilon, *stages in (row for row in rows if row[0] in ("0.1", "1")):
        for place, error in enumerate(("relative", "absolute")):
            ratios = [stage.split(" / ")[place].split(" ± ")[0] for stage in stages]
            assert f"| {epsilon}, {error} error | {' | '.join(ratios)} |" in page

    lead = re.search(r"STAQ has (\S+) ± \S+ of the relative and (\S+) ± ", PASSAGES["lead"](evidence))
    paper = (ROOT / "docs" / "explanation" / "the-paper.md").read_text(encoding="utf-8")
    assert f"it has {lead[1]} of AG's relative and {lead[2]} of its absolute error" in " ".join(paper.split())


def test_a_number_typed_by_hand_is_replaced(tmp_path, evidence):
    """Negative control: what the rows do not say does not stay."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    typed = MARKED.sub(lambda found: found[1] + re.sub(r"\d", "7", PASSAGES["lead"](evidence)) + found[3], readme)
    (tmp_path / "README.md").write_text(typed, encoding="utf-8")

    assert typed != readme
    assert write_passages(tmp_path, evidence) == [tmp_path / "README.md"]
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == readme
