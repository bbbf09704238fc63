"""The report: verdicts that follow from rows, and a page that stands alone."""

import csv
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from experiments.datasets import DATASETS, LAWS, SMALL_CLUSTERS
from experiments.estimate import Estimate
from experiments.figures import FIGURES
from experiments.report import efficiency, methodology, report
from experiments.report.claim import BELOW, GENERALLY, Band, Claim, Evidence, Verdict
from experiments.report.claims import OWN_CLAIMS, PAPER_CLAIMS
from experiments.report.report import by_verdict, missing_rows, write_report
from experiments.results import Results
from experiments.suites import SUITES
from experiments.suites import hierarchies as hierarchies_suite
from experiments.suites.suite import trials
from tests.experiments.made_rows import RUNS, paper_rows, raised, resized, trial_rows

CLAIMS = {f"{place} {claim.quote}": claim for place, claim in enumerate((*PAPER_CLAIMS, *OWN_CLAIMS))}
TESTABLE = [claim for claim in CLAIMS.values() if not claim.untestable]
DO_NOT = (Verdict.NOT_HERE, Verdict.EXPLAINED)
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


@pytest.mark.parametrize("claim", TESTABLE, ids=lambda claim: claim.quote)
def test_a_statement_holds_in_a_world_made_for_it(claim, world):
    """Every check can say yes, and be sure of it."""
    finding = claim.judge(world)

    assert (finding.verdict, finding.firm) == (Verdict.HOLDS, True)


@pytest.mark.parametrize(
    "claim", [claim for claim in TESTABLE if claim.quote not in WITHOUT_ROWS], ids=lambda claim: claim.quote
)
def test_a_statement_does_not_hold_in_every_spoiled_world(claim, spoiled):
    """Negative control: every check can say no, and says it of some opposite of its world."""
    verdicts = {name: claim.judge(evidence).verdict for name, evidence in spoiled.items()}

    assert {*verdicts.values()} & {*DO_NOT, Verdict.IN_PART}, verdicts


@pytest.mark.parametrize(
    "claim", [claim for claim in TESTABLE if claim.quote != WITHOUT_ROWS[0]], ids=lambda claim: claim.quote
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

    assert methodology.CLAIMS[0].judge(world).verdict is Verdict.NOT_HERE


@pytest.mark.parametrize(
    ("held", "needed", "verdict"),
    [
        (8, 0.9, Verdict.HOLDS),
        (7, 0.9, Verdict.IN_PART),
        (6, GENERALLY, Verdict.HOLDS),
        (2, GENERALLY, Verdict.IN_PART),
        (1, GENERALLY, Verdict.NOT_HERE),
        (0, 0.9, Verdict.NOT_HERE),
    ],
    ids=["all", "all-but-one", "generally", "a-quarter", "one-of-eight", "none"],
)
def test_the_verdict_is_by_the_share_of_cases(held, needed, verdict):
    """Of eight cases; and the words say how many."""
    values = {str(case): Estimate(0.5 if case < held else 1.0) for case in range(8)}
    claim = Claim(quote="", where="", measure="ratio", band=BELOW, values=lambda _: values, needed=needed)
    finding = claim.judge(Evidence(rows=[]))

    assert finding.verdict is verdict
    assert f"in {held} of 8 cases at most 0.95" in finding.measured


def test_a_case_without_rows_is_no_case():
    """Values that are nan are left out, and the geometric mean is over the others."""
    values = {"a": Estimate(0.5), "b": Estimate(float("nan")), "c": Estimate(0.125)}
    claim = Claim(quote="", where="", measure="ratio", band=Band(high=0.2), values=lambda _: values)
    finding = claim.judge(Evidence(rows=[]))

    assert finding.verdict is Verdict.IN_PART
    assert finding.measured == "ratio: 0.250 (0.125 to 0.5); in 1 of 2 cases at most 0.2"
    assert finding.reason == "Not in a: 0.500."


def judged(*runs, **fields):
    """A statement that something is lower, judged by the values of runs in each case."""
    values = {f"case {place}": Estimate.of(dict(enumerate(each))) for place, each in enumerate(runs)}
    claim = Claim(quote="", where="", measure="ratio", band=BELOW, values=lambda _: values, **fields)
    return claim.judge(Evidence(rows=[]))


@pytest.mark.parametrize(
    ("values", "verdict", "firm"),
    [
        ((0.90, 0.92), Verdict.HOLDS, True),
        ((0.88, 0.96), Verdict.HOLDS, False),
        ((0.97, 1.05), Verdict.NOT_HERE, False),
        ((1.05, 1.07), Verdict.NOT_HERE, True),
        ((0.5,), Verdict.HOLDS, False),
    ],
    ids=["far-below", "below", "above", "far-above", "a-single-run"],
)
def test_a_verdict_is_firm_beyond_two_standard_errors(values, verdict, firm):
    """From the edge at 0.95; the mean alone decides which verdict it is."""
    finding = judged(values)

    assert (finding.verdict, finding.firm) == (verdict, firm)


def test_a_case_that_changes_nothing_leaves_a_verdict_firm():
    """Of eight cases one may go either way where 75 % are needed and seven agree."""
    surely, perhaps = (0.5, 0.5), (0.90, 0.98)

    assert judged(*[surely] * 7, perhaps, needed=GENERALLY).firm
    assert not judged(*[surely] * 7, perhaps).firm


def test_what_has_no_standard_error_has_to_agree_in_both_halves_of_the_runs():
    """A size that does best in the even runs only is not sure to be the best."""
    claim = next(claim for claim in PAPER_CLAIMS if claim.quote.startswith("and on the other datasets"))

    def firm(best_in_odd_runs):
        rows = []
        for seed in range(4):
            best = best_in_odd_runs if seed % 2 else 32
            rows += trial_rows("us_cvs", 1.0, "ug", cells=900, seed=seed)
            for side in (32, 96):
                error = 0.4 if side == best == 32 else 0.8 if side == best else 1.0
                rows += trial_rows("us_cvs", 1.0, "ug", {"side": side}, relative=error, seed=seed)
        return claim.judge(Evidence(rows=rows)).firm

    assert firm(32)
    assert not firm(96)


def test_the_kind_of_a_failure_is_by_whether_we_can_say_why():
    """Only these data speak against a statement without a reason; one that no row can decide says so."""
    assert judged((1.5, 1.5)).verdict is Verdict.NOT_HERE
    assert judged((1.5, 1.5), why="Because.").verdict is Verdict.EXPLAINED
    assert judged((0.5, 0.5), why="Because.").verdict is Verdict.HOLDS
    assert judged((0.5, 0.5), untestable="Arithmetic.").verdict is Verdict.UNTESTABLE
    assert "Because." in judged((1.5, 1.5), why="Because.").reason
    assert "Because." not in judged(*[(0.5, 0.5)] * 9, (1.5, 1.5), why="Because.").reason


def test_a_made_up_set_counts_only_where_it_is_meant():
    """Two states count in statements on road, and in no others."""
    rows = [
        row
        for dataset in ("uk_postcodes", "two_states")
        for seed in RUNS
        for side in (96, 400)
        for row in trial_rows(dataset, 1.0, "ug", {"side": side}, seed=seed)
    ]
    evidence = Evidence(rows=rows)
    on_road = next(claim for claim in PAPER_CLAIMS if "U400" in claim.quote)
    peaks = next(claim for claim in PAPER_CLAIMS if claim.quote.startswith("Generally the relative errors"))

    assert {name.split(",")[0] for name in on_road.values(evidence)} == {"uk_postcodes (road)", "two_states (road"}
    assert not any("two_states" in name for name in peaks.values(evidence))


def test_u400_is_compared_with_u96(world):
    """By absolute error on road, whatever the suggested and the best size are."""
    claim = next(claim for claim in PAPER_CLAIMS if "U400" in claim.quote)
    swapped = [
        {**row, "parameters": {"side": 496 - row["parameters"]["side"]}}
        if row.get("method") == "ug" and row["parameters"].get("side") in (96, 400)
        else row
        for row in world.rows
    ]

    assert claim.judge(Evidence(rows=swapped)).verdict is Verdict.NOT_HERE


def test_hierarchies_are_judged_on_a_grid_in_proportion_to_the_suggestion():
    """The base grids of our sets are as much finer than suggested as the paper's."""
    for dataset, side in hierarchies_suite.BASE_SIDES.items():
        suggested = (DATASETS[dataset].size / 10) ** 0.5
        assert 0.95 < side / suggested < 1.25


def test_noise_within_the_margin_is_no_difference():
    """AG four hundredths below the best of the others does not outperform it; six hundredths do."""
    claim = next(claim for claim in PAPER_CLAIMS if claim.quote.startswith("AG with suggested grid sizes clearly"))
    verdicts = [
        claim.judge(
            Evidence(rows=trial_rows("us_cvs", 1.0, "ug") + trial_rows("us_cvs", 1.0, "ag", relative=error))
        ).verdict
        for error in (0.96, 0.94)
    ]

    assert verdicts == [Verdict.NOT_HERE, Verdict.HOLDS]


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
        finding = claim.judge(world)
        assert claim.quote in texts
        assert finding.measured in texts
        assert finding.reason in texts
        assert finding.verdict in texts
    assert "trials of hushgrid 0.0 on uk_postcodes (road), checkin_gowalla_sub (checkin), us_chains (landmark)" in texts


def test_the_page_opens_with_what_holds(spoiled, tmp_path):
    """Counts, then a table of contents, then statements by verdict, those that hold first."""
    text = written(spoiled["levelled"].rows, tmp_path)
    found = [(claim, claim.judge(spoiled["levelled"])) for claim in PAPER_CLAIMS]
    anchors = re.findall(r'<h2 id="([^"]+)"', text)
    links = re.findall(r'<a href="#([^"]+)"', text)
    groups = by_verdict(found)

    assert anchors[0] == "contents"
    assert anchors[1 : 1 + len(groups)] == [verdict.replace(",", "").replace(" ", "-") for verdict, _ in groups]
    assert groups[0][0] is Verdict.HOLDS
    assert sum(len(some) for _, some in groups) == len(PAPER_CLAIMS)
    assert links[: len(anchors) - 1] == [anchor for anchor in anchors if anchor != "contents"]


def test_the_page_says_which_rows_are_missing():
    """By suite, and how many; nothing where the small run is whole."""
    keys = [trial.key for suite in SUITES.values() for trial in suite.quick]

    assert missing_rows([{"key": key} for key in keys]) == ""
    assert re.fullmatch(
        r"dimensions [\d,]+ of [\d,]+ trials",
        missing_rows([{"key": key} for key in keys if key not in {trial.key for trial in SUITES["dimensions"].quick}]),
    )


def test_rows_of_an_older_form_are_called_so(world, tmp_path):
    """Their releases share noise; a page of new rows does not say it."""
    new = written([{**row, "noise": 2} for row in world.rows], tmp_path / "new")

    assert report.OLD_ROWS in written(world.rows, tmp_path / "old")
    assert report.OLD_ROWS not in new
    assert "Rows are missing" in new


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
    assert texts.count("not measured") == len(TESTABLE) - 1 + 2  # and the words below the two counts
    assert text.count("data:image/png") == sum(exhibit.draw is not None for exhibit in FIGURES.values())


def test_a_small_run_is_judged(tmp_path):
    """Real trials of three runs, through the file of rows, to verdicts with standard errors and a page."""
    contenders = [("ug", {}), ("ag", {}), *(("ug", {"side": side}) for side in (4, 16, 64)), ("ag", {"first_side": 12})]
    results = Results(tmp_path / "rows.parquet")
    for trial in trials([SMALL_CLUSTERS], contenders, [1.0], 3):
        results.append(replace(trial, calibrate=False).run())
    results.settle()
    rows = results.rows()
    claim = next(claim for claim in PAPER_CLAIMS if claim.quote.startswith("Compared with AG at the best size"))
    [(case, found)] = claim.judge(Evidence(rows=rows)).values.items()
    suggested, best = (
        np.array(
            [
                row["relative_mean"]
                for row in rows
                if (row["queries"], row["method"]) == ("all", "ag") and row["parameters"] == parameters
            ]
        )
        for parameters in ({}, {"first_side": 12})
    )
    ratio = suggested.mean() / best.mean()

    assert case == "clusters_small, ε = 1"
    assert found.value == pytest.approx(ratio)
    assert found.error == pytest.approx(np.std(suggested - ratio * best, ddof=1) / best.mean() / np.sqrt(3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "FIGURES", {"kd": FIGURES["kd"], "grid_sizes": FIGURES["grid_sizes"]})
        text = write_report(results.path, tmp_path).read_text(encoding="utf-8")
    assert found.short in text
    assert report.OLD_ROWS not in text


@pytest.mark.slow
def test_the_whole_report_of_a_whole_world(world, tmp_path):
    """Every figure and table is drawn, none of them empty."""
    text = written(world.rows, tmp_path, figures=FIGURES)

    for name, exhibit in FIGURES.items():
        assert exhibit.title in " ".join(Loads(text).texts)
        if exhibit.draw:
            assert (tmp_path / "out" / "figures" / f"{name}.pdf").stat().st_size > 5000
