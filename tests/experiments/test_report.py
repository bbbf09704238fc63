"""The report: verdicts that follow from rows, and a page that stands alone."""

import csv
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from experiments.datasets import DATASETS, LAWS
from experiments.figures import FIGURES
from experiments.report import efficiency, methodology, report
from experiments.report.claim import BELOW, GENERALLY, Band, Claim, Evidence, Verdict
from experiments.report.claims import OWN_CLAIMS, PAPER_CLAIMS
from experiments.report.report import write_report
from tests.experiments.made_rows import paper_rows, raised, resized, trial_rows

CLAIMS = {f"{place} {claim.quote}": claim for place, claim in enumerate((*PAPER_CLAIMS, *OWN_CLAIMS))}
SPOILERS = {
    "reversed": lambda rows: raised(rows, -12),
    "exaggerated": lambda rows: raised(rows, 12),
    "levelled": lambda rows: raised(rows, 0.01),
    "finer": lambda rows: resized(rows, 25),
    "coarser": lambda rows: resized(rows, 0.25),
}
WITHOUT_ROWS = [efficiency.CLAIMS[3].quote, methodology.CLAIMS[0].quote]  # a formula, and sizes of queries


@pytest.fixture(scope="module")
def world():
    """Rows in which every statement holds."""
    return Evidence(rows=paper_rows())


@pytest.fixture(scope="module")
def spoiled(world):
    """Rows spoiled in several ways."""
    return {name: Evidence(rows=spoil(world.rows)) for name, spoil in SPOILERS.items()}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_a_statement_holds_in_a_world_made_for_it(claim, world):
    """Every check can say yes."""
    assert claim.judge(world).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS.values() if claim.quote not in WITHOUT_ROWS], ids=lambda claim: claim.quote
)
def test_a_statement_does_not_hold_in_every_spoiled_world(claim, spoiled):
    """Negative control: every check can say no, and says it of some opposite of its world."""
    verdicts = {name: claim.judge(evidence).verdict for name, evidence in spoiled.items()}

    assert {*verdicts.values()} & {Verdict.FAILS, Verdict.IN_PART}, verdicts


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS.values() if claim.quote != WITHOUT_ROWS[0]], ids=lambda claim: claim.quote
)
def test_without_rows_nothing_is_claimed(claim):
    """A claim without rows is not measured."""
    finding = claim.judge(Evidence(rows=[]))

    assert (finding.verdict, finding.values) == (Verdict.NOT_MEASURED, {})


def test_the_border_is_computed(monkeypatch, world):
    """Negative control: another formula does not give the paper's numbers."""
    monkeypatch.setattr(efficiency, "border_share", lambda dimensions, **_: 0.08)

    assert efficiency.CLAIMS[3].judge(world).verdict is Verdict.IN_PART


def test_query_sizes_are_those_of_the_data_sets(monkeypatch, world):
    """Negative control: queries over all of the domain are too large."""
    whole = {
        name: replace(dataset, largest_query=(dataset.domain.width, dataset.domain.height))
        for name, dataset in DATASETS.items()
        if name not in LAWS  # whose queries follow from the domain
    }
    monkeypatch.setattr(methodology, "DATASETS", whole)

    assert methodology.CLAIMS[0].judge(world).verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("held", "needed", "verdict"),
    [
        (8, 0.9, Verdict.HOLDS),
        (7, 0.9, Verdict.IN_PART),
        (6, GENERALLY, Verdict.HOLDS),
        (2, GENERALLY, Verdict.IN_PART),
        (1, GENERALLY, Verdict.FAILS),
        (0, 0.9, Verdict.FAILS),
    ],
    ids=["all", "all-but-one", "generally", "a-quarter", "one-of-eight", "none"],
)
def test_the_verdict_is_by_the_share_of_cases(held, needed, verdict):
    """Of eight cases; and the words say how many."""
    values = {str(case): 0.5 if case < held else 1.0 for case in range(8)}
    claim = Claim(quote="", where="", measure="ratio", band=BELOW, values=lambda _: values, needed=needed)
    finding = claim.judge(Evidence(rows=[]))

    assert finding.verdict is verdict
    assert f"in {held} of 8 cases at most 0.95" in finding.measured


def test_a_case_without_rows_is_no_case():
    """Values that are nan are left out, and the geometric mean is over the others."""
    values = {"a": 0.5, "b": float("nan"), "c": 0.125}
    claim = Claim(quote="", where="", measure="ratio", band=Band(high=0.2), values=lambda _: values)
    finding = claim.judge(Evidence(rows=[]))

    assert finding.verdict is Verdict.IN_PART
    assert finding.measured == "ratio: 0.25 (0.125 to 0.5); in 1 of 2 cases at most 0.2"


def test_noise_within_the_margin_is_no_difference():
    """AG four hundredths below the best of the others does not outperform it; six hundredths do."""
    claim = next(claim for claim in PAPER_CLAIMS if claim.quote.startswith("AG with suggested grid sizes clearly"))
    verdicts = [
        claim.judge(
            Evidence(rows=trial_rows("us_cvs", 1.0, "ug") + trial_rows("us_cvs", 1.0, "ag", relative=error))
        ).verdict
        for error in (0.96, 0.94)
    ]

    assert verdicts == [Verdict.FAILS, Verdict.HOLDS]


class Loads(HTMLParser):
    """Everything a page would load or link to, its tags and its text."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.tags, self.anchors, self.texts = [], set(), set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Keep the tag and its addresses."""
        self.tags.add(tag)
        for name, value in attributes:
            if name in ("src", "href", "srcset", "action", "data", "poster"):
                self.addresses.append(value)
            if name == "id":
                self.anchors.add(value)

    def handle_data(self, data):
        """Keep the text."""
        self.texts.append(data)


def written(rows, folder, *, figures=("ag_ranges", "grid_sizes")):
    """The page of some rows, with few figures, because all of them take long to draw."""
    folder.mkdir(exist_ok=True)
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "FIGURES", {name: FIGURES[name] for name in figures})
        return write_report(path, folder / "out").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(world, tmp_path_factory):
    """Where the report of the world is."""
    folder = tmp_path_factory.mktemp("report")
    written(world.rows, folder)
    return folder / "out"


@pytest.fixture(scope="module")
def text(folder):
    """Its page."""
    return (folder / "report.html").read_text(encoding="utf-8")


def test_the_page_stands_alone(text):
    """It loads nothing: pictures are inside, links stay on the page, and there is no script."""
    page = Loads(text)
    links = {address[1:] for address in page.addresses if address.startswith("#")}

    assert all(address.startswith(("data:image/png;base64,", "#")) for address in page.addresses)
    assert links <= page.anchors
    assert not page.tags & {"script", "link", "iframe", "object"}
    assert not re.search(r"https?:|url\(|@import", text)
    assert "default-src &#x27;none&#x27;" in text


def test_the_page_states_every_claim_with_its_verdict(text, world):
    """Quote, measurement and verdict; and the number of trials and the version."""
    texts = " ".join(Loads(text).texts)

    for claim in CLAIMS.values():
        assert claim.quote in texts
        assert claim.judge(world).measured in texts
    assert "trials of hushgrid 0.0 on uk_postcodes, checkin_gowalla_sub, us_chains, us_cvs" in texts


def test_the_same_rows_give_the_same_page(text, world, tmp_path):
    """In any order, on any day."""
    assert written(world.rows[::-1], tmp_path) == text


def test_text_from_rows_is_escaped(tmp_path):
    """A data set may have any name."""
    name = "<script>alert('a & b')</script>"
    rows = trial_rows(name, 1.0, "ug") + trial_rows(name, 1.0, "ug", {"side": 4}) + trial_rows(name, 1.0, "ag")
    page = Loads(written(rows, tmp_path))

    assert "script" not in page.tags
    assert any(name in text for text in page.texts)


def test_tables_and_figures_are_files_too(folder, world):
    """PNG, PDF and CSV beside the page."""
    files = {str(path.relative_to(folder)) for path in folder.rglob("*.*")}
    with (folder / "tables" / "grid_sizes.csv").open(encoding="utf-8") as file:
        table = tuple(tuple(line) for line in csv.reader(file))

    assert files == {"report.html", "figures/ag_ranges.png", "figures/ag_ranges.pdf", "tables/grid_sizes.csv"}
    assert table[1:] == FIGURES["grid_sizes"].table(world.rows).lines


def test_a_report_without_rows_is_a_report(tmp_path):
    """All figures say that nothing was run, all statements but the formula are not measured."""
    text = write_report(tmp_path / "none.jsonl", tmp_path).read_text(encoding="utf-8")
    texts = Loads(text).texts

    assert "No trial has been run yet." in texts
    assert texts.count("not measured") == len(CLAIMS) - 1 + 2  # and the words below the two counts
    assert text.count("data:image/png") == sum(exhibit.draw is not None for exhibit in FIGURES.values())


@pytest.mark.slow
def test_the_whole_report_of_a_whole_world(world, tmp_path):
    """Every figure and table is drawn, none of them empty."""
    text = written(world.rows, tmp_path, figures=FIGURES)

    for name, exhibit in FIGURES.items():
        assert exhibit.title in " ".join(Loads(text).texts)
        if exhibit.draw:
            assert (tmp_path / "out" / "figures" / f"{name}.pdf").stat().st_size > 5000
