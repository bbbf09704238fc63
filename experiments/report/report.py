"""Write the report: every figure and table from rows, and one page with the verdict on each statement."""

from collections.abc import Iterator
from pathlib import Path

from experiments.figures import FIGURES
from experiments.figures.exhibit import Exhibit
from experiments.figures.means import dataset_order
from experiments.figures.style import save
from experiments.report import notes
from experiments.report.claim import Evidence
from experiments.report.claims import OWN_CLAIMS, PAPER_CLAIMS
from experiments.report.page import (
    bullets,
    claims_table,
    contents,
    counts,
    data_table,
    heading,
    page,
    paragraph,
    picture,
)
from experiments.results import Results
from experiments.trial import Row

TITLE = "Differentially private grids for geospatial data, reproduced"
PAPER = "Qardaji, Yang and Li, Differentially Private Grids for Geospatial Data, ICDE 2013"
PAGE = "report.html"


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
    exhibits = [piece for name, exhibit in FIGURES.items() for piece in _exhibit(name, exhibit, rows, folder)]
    path = folder / PAGE
    path.write_text(page(TITLE, [*_opening(rows), *_statements(rows), *exhibits, *_notes()]), encoding="utf-8")
    return path


def _opening(rows: list[Row]) -> Iterator[str]:
    yield heading(TITLE, anchor="top", level=1)
    yield paragraph(f"{PAPER}: each statement of its evaluation beside what hushgrid measured.")
    yield paragraph(_about(rows), look="soft")
    yield contents(
        [
            *(("paper", "What the paper says"), ("own", "Beyond the paper")),
            *((name, exhibit.title) for name, exhibit in FIGURES.items()),
            ("notes", "What differs from the paper, and how verdicts are made"),
        ]
    )


def _about(rows: list[Row]) -> str:
    if not rows:
        return "No trial has been run yet."
    versions = ", ".join(sorted({row["version"] for row in rows if "version" in row}))
    datasets = ", ".join(sorted({row["dataset"] for row in rows}, key=dataset_order))
    return f"{len({row['key'] for row in rows}):,} trials of hushgrid {versions} on {datasets}."


def _statements(rows: list[Row]) -> Iterator[str]:
    evidence = Evidence(rows=rows)
    paper = [(claim, claim.judge(evidence)) for claim in PAPER_CLAIMS]
    own = [(claim, claim.judge(evidence)) for claim in OWN_CLAIMS]
    yield heading("What the paper says, what we measured, and whether it holds", anchor="paper")
    yield paragraph("Every verdict follows from the rows by a rule that is folded below the measurement.")
    yield counts(paper)
    yield claims_table(paper, says="what the paper says")
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
    yield heading("What differs from the paper, and how verdicts are made", anchor="notes")
    for title, items in (("Data sets", notes.DATASETS), ("Methods", notes.METHODS), ("Verdicts", notes.RULES)):
        yield heading(title, anchor=title.lower().replace(" ", "-"), level=3)
        yield bullets(items)
