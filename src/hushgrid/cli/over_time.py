"""Answers of a folder of releases, period by period."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hushgrid.cli.answers import NUMBERS
from hushgrid.cli.parameters import COLUMNS
from hushgrid.cli.polygons import read_polygons, refused, shortened
from hushgrid.cli.text import as_json, note
from hushgrid.errors import ArgumentError
from hushgrid.files.paths import new_file
from hushgrid.text import aligned, whole

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from hushgrid.change.series import Series
    from hushgrid.cli.polygons import Features
    from hushgrid.slices.slices import Slices
    from hushgrid.synopsis.synopsis import Synopsis
    from hushgrid.web.series.places import PlacesOverTime

GAP = "no release"


def rectangles_over_time(series: "Series", rects: "NDArray[np.float64]", confidence: float) -> "pa.Table":
    """Counts of rectangles: a row for each period and rectangle."""
    places = dict(zip(COLUMNS, rects.T.tolist(), strict=True))
    return series.answer(rects, confidence=confidence).table(places)


def polygons_over_time(
    series: "Series", features: "Features", file: Path, confidence: float, area_name: str | None
) -> "pa.Table":
    """Counts of polygons: a row for each period and feature."""
    names = features.called(area_name)
    try:
        found = series.answer_polygons(features, confidence=confidence)
    except ArgumentError as error:
        raise refused(file, str(error)) from None
    return found.table({"feature": range(len(names)), "name": names})


def counted_on(series: "Series", polygons_file: Path | None, area_name: str | None) -> "list[PlacesOverTime]":
    """The places that the page of a series tells of."""
    from hushgrid.web.series.places import counted_places

    if polygons_file is None:
        return counted_places(series)
    features = read_polygons(polygons_file)
    try:
        return counted_places(series, polygons=features, names=features.called(area_name))
    except ArgumentError as error:
        raise refused(polygons_file, str(error)) from None


def series_in(titled: "Sequence[tuple[str, Synopsis | Slices]]") -> "Series":
    """The series that releases make by the periods in their titles.

    An error says why they do not make one.
    """
    from hushgrid.change.series import Series
    from hushgrid.periods import Period
    from hushgrid.synopsis.synopsis import Synopsis

    single = {title: release for title, release in titled if isinstance(release, Synopsis)}
    undated = next((title for title, _ in titled if Period.within(title) is None), None)
    if undated is not None:
        msg = f"the name of {undated} holds no period, such as 2026-03."
        raise ArgumentError(msg)
    if len(single) < 2:
        msg = "that takes two releases or more, of different periods and without slices."
        raise ArgumentError(msg)
    return Series(single)


def tell(
    table: "pa.Table",
    series: "Series",
    folder: Path,
    *,
    form: str,
    confidence: float,
    output: Path | None,
    overwrite: bool,
) -> None:
    """Print a table of periods and places, or write it to a file."""
    from hushgrid.synopsis.facts import Facts, caveats_of

    facts, caveats = Facts.of(next(iter(series.values()))), caveats_of(series)
    if form == "table":
        click.echo(_text(table))
        lines = ["", *caveats, f"Counts are estimates: they carry noise that protects every {facts.claim.unit}."]
        if facts.covered:
            share = f"{100 * confidence:.10g} % confidence, each by itself"
            lines.append(f"The {facts.covered} lies between low and high with {share}.")
        click.echo("\n".join(lines))
        return
    if form == "json":
        heading = {"folder": str(folder), "confidence": confidence, "periods": list(series.periods)}
        simulation = any(synopsis.simulation for synopsis in series.values())
        heading |= {"simulation": simulation, "caveats": list(caveats)}
        click.echo(as_json({**heading, "answers": [_finite(row) for row in table.to_pylist()]}))
        return
    if output is None:
        click.echo("".join(_csv(table)), nl=False)
    else:
        with new_file(output, overwrite=overwrite) as out:
            out.writelines(line.encode() for line in _csv(table))
        click.echo(output)
    for caveat in caveats:
        note(caveat)


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """A row for JSON, which has no infinity."""
    return {name: None if isinstance(value, float) and math.isinf(value) else value for name, value in row.items()}


def _csv(table: "pa.Table") -> Iterator[str]:
    """Lines of a CSV file, at full precision; a gap has no numbers."""
    from hushgrid.export.vectors import as_text

    names = [name for name in table.column_names if name != "usable"]
    yield _line(names)
    for row in table.select(names).to_pylist():
        yield _line(
            [
                "" if value is None else as_text(value) if isinstance(value, str) else repr(value)
                for value in row.values()
            ]
        )


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _text(table: "pa.Table") -> str:
    """A table for people."""
    rows = table.drop_columns([name for name in ("feature",) if name in table.column_names]).to_pylist()
    marked = any(row["usable"] is not True for row in rows)
    places = [name for name in rows[0] if name not in (*NUMBERS, "usable")]
    lines = [[*places, *NUMBERS, *([""] if marked else [])]]
    lines += [
        [*(_place(row[name]) for name in places), *_numbers(row), *([_mark(row)] if marked else [])] for row in rows
    ]
    return aligned(lines, left=1 + ("name" in places))


def _place(value: Any) -> str:
    return shortened(value) if isinstance(value, str) else f"{value:.10g}"


def _numbers(row: dict[str, Any]) -> list[str]:
    return ["" if row[name] is None else whole(row[name]) for name in NUMBERS]


def _mark(row: dict[str, Any]) -> str:
    return GAP if row["usable"] is None else "" if row["usable"] else "not usable"
