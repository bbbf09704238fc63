"""Write the report: every figure and table from rows, and one page with the verdict on each statement."""

from collections.abc import Iterator
from pathlib import Path

from experiments.datasets import DATASETS
from experiments.figures import FIGURES
from experiments.figures.exhibit import Exhibit
from experiments.figures.means import dataset_label, dataset_order
from experiments.figures.style import save
from experiments.report import notes
from experiments.report.claim import Evidence, Verdict
from experiments.report.claims import OWN_CLAIMS, PAPER_CLAIMS
from experiments.report.page import (
    Judged,
    bullets,
    claims_table,
    contents,
    counts,
    data_table,
    heading,
    look_of,
    page,
    paragraph,
    picture,
)
from experiments.results import Results
from experiments.suites import SUITES
from experiments.trial import NOISE, Row

TITLE = "Differentially private grids for geospatial data, reproduced"
PAPER = "Qardaji, Yang and Li, Differentially Private Grids for Geospatial Data, ICDE 2013"
PAGE = "report.html"
OLD_ROWS = "These rows are of an older form, in which data sets share noise. A new run replaces all of them."
NOTES_TITLE = "What differs from the paper, and how verdicts are made"
NOTES = {"Data sets": notes.DATASETS, "Methods": notes.METHODS, "Verdicts": notes.RULES}
HEADINGS = {
    Verdict.HOLDS: "What holds",
    Verdict.IN_PART: "What holds in part",
    Verdict.NOT_HERE: "What does not hold on these data",
    Verdict.EXPLAINED: "What does not hold, and why we think so",
    Verdict.UNTESTABLE: "What cannot be tested here",
    Verdict.NOT_MEASURED: "What was not measured",
}
COUNTED = {  # after a number
    Verdict.HOLDS: "hold",
    Verdict.IN_PART: "hold in part",
    Verdict.NOT_HERE: "do not on these data",
    Verdict.EXPLAINED: "do not and we say why",
    Verdict.UNTESTABLE: "cannot be tested here",
    Verdict.NOT_MEASURED: "were not measured",
}
KINDS = {
    Verdict.HOLDS: "Every verdict follows from the rows by a rule that is folded below the measurement.",
    Verdict.IN_PART: "In some of the cases. The reason names those that differ most.",
    Verdict.NOT_HERE: "Our data differ from the paper's, so this refutes nothing: we know of no reason but the data.",
    Verdict.EXPLAINED: "We think that these are mistaken on the paper's data too. The reason we give is a hypothesis.",
    Verdict.UNTESTABLE: "Nothing that we could run would decide these.",
    Verdict.NOT_MEASURED: "Rows are missing.",
}


def write_report(rows_path: Path, folder: Path) -> Path:
    """Write ``report.html``, figures (PNG, PDF) and tables (CSV) into a folder, and return the page's path.

    The same rows give the same bytes. The page has no date and loads nothing.

    Parameters
    ----------
    rows_path : Path
        File of rows, as `Results` keeps it. Without it every statement is "not measured".
    folder : Path
        Made where it does not exist; what is in it under the same names is replaced.
    """
    rows = Results(rows_path).rows()
    for part in ("figures", "tables"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    evidence = Evidence(rows=rows)
    paper, own = ([(claim, claim.judge(evidence)) for claim in claims] for claims in (PAPER_CLAIMS, OWN_CLAIMS))
    exhibits = [piece for name, exhibit in FIGURES.items() for piece in _exhibit(name, exhibit, rows, folder)]
    body = [*_opening(rows, paper, own), *_statements(paper, own), *exhibits, *_notes()]
    path = folder / PAGE
    path.write_text(page(TITLE, body), encoding="utf-8")
    return path


def _opening(rows: list[Row], paper: list[Judged], own: list[Judged]) -> Iterator[str]:
    yield heading(TITLE, anchor="top", level=1)
    yield paragraph(f"{PAPER}: each statement of its evaluation beside what hushgrid measured.")
    yield paragraph(_summary(paper))
    yield counts(paper)
    yield paragraph(_about(rows), look="soft")
    if rows and all(row.get("noise") != NOISE for row in rows):
        yield paragraph(OLD_ROWS, look="missing")
    elif missing := missing_rows(rows):
        yield paragraph(f"Rows are missing, and what needs them says so: {missing}.", look="missing")
    yield contents(
        {
            "What the paper says": [
                (look_of(verdict), f"{HEADINGS[verdict]} ({len(some)})") for verdict, some in by_verdict(paper)
            ],
            "Beyond the paper": [("own", f"What we expected ({len(own)})")],
            "Figures and tables": [(name, exhibit.title) for name, exhibit in FIGURES.items()],
            "Notes": [("notes", NOTES_TITLE), *((_anchor(title), title) for title in NOTES)],
        }
    )


def _summary(paper: list[Judged]) -> str:
    """How many statements hold, in a sentence."""
    numbers = ", ".join(f"{len(some)} {COUNTED[verdict]}" for verdict, some in by_verdict(paper))
    near = sum(not finding.firm for _, finding in paper)
    closing = f" {near} of these verdicts are by less than two standard errors, and say so." if near else ""
    return f"Of {len(paper)} statements {numbers}.{closing}"


def _about(rows: list[Row]) -> str:
    if not rows:
        return "No trial has been run yet."
    versions = ", ".join(sorted({row["version"] for row in rows if "version" in row}))
    datasets = ", ".join(dataset_label(name) for name in sorted({row["dataset"] for row in rows}, key=dataset_order))
    return f"{len({row['key'] for row in rows}):,} trials of hushgrid {versions} on {datasets}."


def missing_rows(rows: list[Row]) -> str:
    """Suites whose trials are not all among the rows, neither in full nor in small; empty if there is none."""
    there = {row["key"] for row in rows}
    counted = []
    for name, suite in SUITES.items():
        modes = [[trial.key for trial in mode if DATASETS[trial.dataset].at_hand] for mode in (suite.full, suite.quick)]
        absent = [sum(key not in there for key in keys) for keys in modes]
        if all(absent):
            counted.append(f"{name} {absent[0]:,} of {len(modes[0]):,} trials")
    return ", ".join(counted)


def by_verdict(judged: list[Judged]) -> list[tuple[Verdict, list[Judged]]]:
    """Statements of each verdict, those that hold first, in the paper's order."""
    groups = ((verdict, [one for one in judged if one[1].verdict is verdict]) for verdict in Verdict)
    return [(verdict, some) for verdict, some in groups if some]


def _statements(paper: list[Judged], own: list[Judged]) -> Iterator[str]:
    for verdict, some in by_verdict(paper):
        yield heading(HEADINGS[verdict], anchor=look_of(verdict))
        yield paragraph(KINDS[verdict])
        yield claims_table(some, says="what the paper says")
    yield heading("Beyond the paper", anchor="own")
    yield counts(own)
    yield claims_table(own, says="what we expected")


def _exhibit(name: str, exhibit: Exhibit, rows: list[Row], folder: Path) -> Iterator[str]:
    yield heading(exhibit.title, anchor=name)
    yield paragraph(exhibit.source or "beyond the paper", look="source")
    if exhibit.draw:
        save(exhibit.draw(rows), folder / "figures", name)
        yield picture((folder / "figures" / f"{name}.png").read_bytes(), text=exhibit.caption)
    else:
        yield paragraph(exhibit.caption)
    if exhibit.table:
        table = exhibit.table(rows)
        table.save(folder / "tables" / f"{name}.csv")
        yield data_table(table)


def _notes() -> Iterator[str]:
    yield heading(NOTES_TITLE, anchor="notes")
    for title, items in NOTES.items():
        yield heading(title, anchor=_anchor(title), level=3)
        yield bullets(items)


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")
