"""``hushgrid query``: counts in rectangles and polygons."""

import csv
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hushgrid.cli.files import check_one_reader, read_release
from hushgrid.cli.parameters import COLUMNS, Rect, example, read_rects, to_rects, typed_rects, warn_of_outside
from hushgrid.cli.polygons import GEOJSON, read_polygons, refused
from hushgrid.cli.text import aligned, as_json, note, whole
from hushgrid.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hushgrid.cli.polygons import Features
    from hushgrid.synopsis.answer import Answer
    from hushgrid.synopsis.synopsis import Synopsis


NUMBERS = ("estimate", "low", "high")
WHAT_TO_ASK = "Give the areas with one of --rect W,S,E,N, --rects FILE and --polygons FILE."
DEVIATIONS = ("noise_std", "spread_std")


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """Areas, and what a synopsis says about them.

    Parameters
    ----------
    places : array, shape (n, columns)
        Numbers that identify the areas: west, south, east and north of rectangles.
    values : mapping of str to array of float, shape (n,)
        The fields of `hushgrid.synopsis.answer.Answer`.
    confidence : float
        Confidence of the intervals.
    unit : str
        What the noise protects: each record, or each user.
    covered : str
        What lies in the intervals.
    caveats : tuple of str
        What a reader must know besides.
    columns : tuple of str
        What the numbers in `places` are called.
    names : sequence of str, optional
        What the areas are called. Rectangles have no names.
    """

    places: "NDArray[np.float64] | NDArray[np.int64]"
    values: dict[str, "NDArray[np.float64]"]
    confidence: float
    unit: str = "record"
    covered: str = "true count"
    caveats: tuple[str, ...] = ()
    columns: tuple[str, ...] = COLUMNS
    names: Sequence[str] | None = None

    def table(self) -> str:
        """A table for people.

        Names of areas, where there are any, replace their numbers.
        """
        names = self.names
        header = list(self.columns) if names is None else ["area"]
        places = (
            [[name] for name in names]
            if names is not None
            else [[f"{place:.10g}" for place in row] for row in self.places]
        )
        usable = self.values["usable"]
        numbers = ([whole(number) for number in row] for row in self._rows(NUMBERS))
        marks = (["" if good else "not usable"] for good in usable) if not usable.all() else ([] for _ in usable)
        rows = [[*place, *row, *mark] for place, row, mark in zip(places, numbers, marks, strict=True)]
        rows.insert(0, [*header, *NUMBERS, *([""] if not usable.all() else [])])
        lines = [
            aligned(rows, left=0 if names is None else 1),
            "",
            *self.caveats,
            f"Counts are estimates: they carry noise that protects every {self.unit}.",
            f"The {self.covered} lies between low and high with {100 * self.confidence:.10g} % confidence.",
        ]
        if not usable.all():
            lines.append("Where an answer is marked not usable, the interval is wider than the estimate.")
        if (self.values["estimate"] < 0).any():
            lines.append("Noise can take an estimate below zero. It is left there, so that areas add up.")
        return "\n".join(lines)

    def csv(self) -> Iterator[str]:
        """Lines of a CSV file, at full precision."""
        write = csv.writer(_Lines(), lineterminator="\n").writerow
        yield write((*self.columns, *([] if self.names is None else ["name"]), *NUMBERS))
        names = [[]] * len(self.places) if self.names is None else [[_no_formula(name)] for name in self.names]
        for place, name, row in zip(self.places.tolist(), names, self._rows(NUMBERS), strict=True):
            yield write((*map(repr, place), *name, *map(repr, row)))

    def records(self) -> list[dict[str, Any]]:
        """One record per area, for JSON.

        Null stands for an infinite bound.
        """
        fields = (*NUMBERS, *DEVIATIONS, "usable")
        rows = zip(self.places.tolist(), self._rows(fields), strict=True)
        found = [dict(zip((*self.columns, *fields), map(_bounded, (*place, *row)), strict=True)) for place, row in rows]
        if self.names is None:
            return found
        return [{"name": name, **each} for name, each in zip(self.names, found, strict=True)]

    def _rows(self, names: Sequence[str]) -> Iterator[tuple[float, ...]]:
        return zip(*(self.values[name].tolist() for name in names), strict=True)


class _Lines:
    """A file for `csv.writer` that hands each line back."""

    def write(self, line: str) -> str:
        """The line itself."""
        return line


def _no_formula(name: str) -> str:
    """A name that no spreadsheet takes for a formula.

    Examples
    --------
    >>> _no_formula("=1+1"), _no_formula("Kent")
    ("'=1+1", 'Kent')
    """
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


def ask(synopsis: "Synopsis", rects: "NDArray[np.float64]", *, confidence: float) -> Answers:
    """What the synopsis says about rectangles."""
    return Answers(places=rects, **_said(synopsis, synopsis.answer(rects, confidence=confidence), confidence))


def ask_polygons(
    synopsis: "Synopsis", features: "Features", *, confidence: float, area_name: str | None = None
) -> Answers:
    """What the synopsis says about polygons."""
    import numpy as np

    answer = synopsis.answer_polygons(features, confidence=confidence)
    numbers = np.arange(len(features.features))[:, None]
    names = features.called(area_name)
    return Answers(places=numbers, columns=("feature",), names=names, **_said(synopsis, answer, confidence))


def ask_areas(synopsis: "Synopsis", *, level: str | None, whole: bool, confidence: float) -> Answers:
    """What the synopsis says about its own areas."""
    import numpy as np

    if synopsis.partition.tiles:
        raise click.UsageError(WHAT_TO_ASK)
    names, answer = synopsis.districts.answers(level, whole=whole, confidence=confidence)
    return Answers(places=np.empty((len(names), 0)), columns=(), names=names, **_said(synopsis, answer, confidence))


def _said(synopsis: "Synopsis", answer: "Answer", confidence: float) -> dict[str, Any]:
    from hushgrid.synopsis.facts import Facts

    facts = Facts.of(synopsis)
    return {
        "values": vars(answer),
        "confidence": confidence,
        "unit": facts.claim.unit,
        "covered": facts.covered,
        "caveats": facts.caveats,
    }


def _bounded(number: float) -> float | None:
    return number if math.isfinite(number) else None


@click.command(
    epilog=example(
        "query trips.dp.parquet --rect -74,40.7,-73.9,40.8 --rect -73.9,40.7,-73.8,40.8",
        "query trips.dp.parquet --rects areas.csv --csv > answers.csv",
        "query trips.dp.parquet --polygons districts.gpkg --area-name name -o answers.geojson",
    )
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--rect",
    "rects",
    callback=to_rects,
    multiple=True,
    metavar="W,S,E,N",
    help="A rectangle: west, south, east, north. Repeatable.",
)
@click.option(
    "--rects",
    "rects_file",
    type=click.Path(path_type=Path),
    metavar="CSV|-",
    help="CSV file of rectangles, with columns west, south, east, north. - reads standard input.",
)
@click.option(
    "--polygons",
    "polygons_file",
    type=click.Path(path_type=Path),
    metavar="FILE|-",
    help="File of polygons: GeoJSON, a GeoPackage or anything else that GDAL reads. - reads GeoJSON on standard input.",
)
@click.option("--area-name", metavar="FIELD", show_default="name or id", help="Property that names each polygon.")
@click.option(
    "--level", metavar="LEVEL", show_default="the finest", help="Level of areas to list, of a release on areas."
)
@click.option("--whole", "want_whole", is_flag=True, help="Whole numbers that add up, of a release on areas.")
@click.option("--confidence", default=0.95, show_default=True, help="Confidence of the intervals.")
@click.option("--json", "want_json", is_flag=True, help="Write JSON.")
@click.option(
    "--csv",
    "want_csv",
    is_flag=True,
    help="Write CSV. Columns: west,south,east,north,estimate,low,high, or for areas name in place of the first four.",
)
@click.option(
    "--geojson", "want_geojson", is_flag=True, help="Write the polygons as GeoJSON with estimate, low and high."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="GEOJSON", help="Write this GeoJSON to a file."
)
@click.option("--overwrite", is_flag=True, help="Replace GEOJSON if it exists.")
def query(
    file: Path,
    rects: list[Rect],
    rects_file: Path | None,
    polygons_file: Path | None,
    area_name: str | None,
    level: str | None,
    want_whole: bool,
    confidence: float,
    want_json: bool,
    want_csv: bool,
    want_geojson: bool,
    output: Path | None,
    overwrite: bool,
) -> None:
    """Estimate how many points lie in rectangles or polygons.

    FILE is a release made by "hushgrid publish". Every estimate has an interval. Parts of an area outside the domain
    count nothing. Features of a polygon file are numbered from 0. A release on areas lists these, if nothing is asked.
    """
    asked = sum(map(bool, (rects, rects_file, polygons_file)))
    if asked > 1 or (asked and (level is not None or want_whole)):
        msg = f"{WHAT_TO_ASK} --level and --whole are about the areas of the release itself."
        raise click.UsageError(msg)
    check_one_reader(FILE=file, **{"--rects": rects_file, "--polygons": polygons_file})
    _check_format(want_json, want_csv, want_geojson or output is not None, polygons_file)
    if output is not None:
        _check_output(output, overwrite=overwrite)
    features = None
    if polygons_file is not None:
        features = read_polygons(polygons_file)
        synopsis, _ = read_release(file)
        answers = _ask_polygons(synopsis, features, polygons_file, confidence, area_name)
    elif asked:
        checked = read_rects(rects_file) if rects_file else typed_rects(rects)
        synopsis, _ = read_release(file)
        warn_of_outside(checked, synopsis.domain)
        answers = ask(synopsis, checked, confidence=confidence)
    else:
        synopsis, _ = read_release(file)
        answers = ask_areas(synopsis, level=level, whole=want_whole, confidence=confidence)
    heading = {"file": str(file), "simulation": synopsis.simulation, "confidence": confidence}
    if want_json:
        click.echo(as_json({**heading, "caveats": list(answers.caveats), "answers": answers.records()}))
    elif want_csv or want_geojson or output is not None:
        _write(answers, features, output, overwrite=overwrite, want_csv=want_csv)
    else:
        click.echo(answers.table())


def _write(
    answers: Answers, features: "Features | None", output: Path | None, *, overwrite: bool, want_csv: bool
) -> None:
    """Write answers for other programs, and say what their readers must know."""
    if output is not None and features is not None:
        _save(answers, features, output, overwrite=overwrite)
    elif features is not None and not want_csv:
        sys.stdout.writelines(features.geojson(answers.values, NUMBERS))
    else:
        sys.stdout.writelines(answers.csv())
    sys.stdout.flush()
    for caveat in answers.caveats:
        note(caveat)


def _check_format(want_json: bool, want_csv: bool, want_geojson: bool, polygons_file: Path | None) -> None:
    if sum((want_json, want_csv, want_geojson)) > 1:
        msg = "Choose one of --json, --csv and GeoJSON (--geojson, -o)."
        raise click.UsageError(msg)
    if want_geojson and polygons_file is None:
        msg = "GeoJSON (--geojson, -o) is for --polygons. Write rectangles with --json or --csv."
        raise click.UsageError(msg)


def _check_output(output: Path, *, overwrite: bool) -> None:
    from hushgrid.files.paths import check_target

    if output.suffix.lower() not in GEOJSON:
        msg = f"-o writes GeoJSON and must end in .geojson, got {output}. Use --geojson for standard output."
        raise click.UsageError(msg)
    check_target(output, overwrite=overwrite)


def _ask_polygons(
    synopsis: "Synopsis", features: "Features", file: Path, confidence: float, area_name: str | None
) -> Answers:
    from hushgrid.synopsis.answer import check_confidence

    check_confidence(confidence)  # so that complaints after it are about the polygons
    try:
        return ask_polygons(synopsis, features, confidence=confidence, area_name=area_name)
    except ArgumentError as error:
        raise refused(file, str(error)) from None


def _save(answers: Answers, features: "Features", output: Path, *, overwrite: bool) -> None:
    from hushgrid.files.paths import new_file

    with new_file(output, overwrite=overwrite) as out:
        out.writelines(part.encode() for part in features.geojson(answers.values, NUMBERS))
    click.echo(output)
