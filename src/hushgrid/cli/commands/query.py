"""``hushgrid query``: counts in rectangles and polygons."""

import csv
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from hushgrid.cli.files import check_one_reader, read_release
from hushgrid.cli.parameters import COLUMNS, Rect, example, read_rects, to_rects, typed_rects, warn_of_outside
from hushgrid.cli.polygons import read_polygons, refused, shortened
from hushgrid.cli.text import as_json, note, warn
from hushgrid.errors import ArgumentError
from hushgrid.files.paths import check_target, new_file
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, exact_text
from hushgrid.text import aligned, whole

if TYPE_CHECKING:
    from typing import BinaryIO

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
        What lies in the intervals; empty where low and high are a range by noise alone.
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
            [[shortened(name)] for name in names]
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
        ]
        if self.covered:
            confidence = f"{100 * self.confidence:.10g} % confidence"
            lines.append(f"The {self.covered} lies between low and high with {confidence}.")
        if not usable.all():
            word = "interval" if self.covered else "range"
            lines.append(f"Where an answer is marked not usable, the {word} is wider than the estimate.")
        if (self.values["estimate"] < 0).any():
            lines.append("Noise can take an estimate below zero. It is left there, so that areas add up.")
        return "\n".join(lines)

    def csv(self) -> Iterator[str]:
        """Lines of a CSV file, at full precision."""
        from hushgrid.export.vectors import as_text

        write = csv.writer(_Lines(), lineterminator="\n").writerow
        yield write((*self.columns, *([] if self.names is None else ["name"]), *NUMBERS))
        names = [[]] * len(self.places) if self.names is None else [[as_text(name)] for name in self.names]
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


def ask(synopsis: "Synopsis", rects: "NDArray[np.float64]", *, confidence: float) -> Answers:
    """What the synopsis says about rectangles."""
    return Answers(places=rects, **_said(synopsis, synopsis.answer(rects, confidence=confidence), confidence))


def ask_polygons(
    synopsis: "Synopsis",
    features: "Features",
    *,
    confidence: float,
    area_name: str | None = None,
    whole: bool = False,
) -> Answers:
    """What the synopsis says about polygons."""
    import numpy as np

    names = features.called(area_name)
    answer = synopsis.answer_polygons(features, confidence=confidence, whole=whole)
    numbers = np.arange(len(features.features))[:, None]
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
        "query trips.dp.parquet --polygons districts.gpkg --area-name name --whole -o answers.csv",
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
@click.option(
    "--whole", "want_whole", is_flag=True, help="Whole numbers that add up, of polygons or of a release on areas."
)
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
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Write a file: .geojson or .gpkg of polygons, or .csv of anything.",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
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
    if asked > 1 or (asked and level is not None) or (want_whole and (rects or rects_file)):
        msg = f"{WHAT_TO_ASK} --level is about the areas of the release itself, --whole about these or --polygons."
        raise click.UsageError(msg)
    check_one_reader(FILE=file, **{"--rects": rects_file, "--polygons": polygons_file})
    form = _format(want_json, want_csv, want_geojson, output)
    if form in ("geojson", "gpkg") and polygons_file is None:
        msg = "GeoJSON and GeoPackage are for --polygons. Write rectangles as --json or --csv, and the areas of a "
        msg += "release with 'hushgrid export FILE --whole'."
        raise click.UsageError(msg)
    if output is not None:
        check_target(output, overwrite=overwrite)
    if polygons_file is not None:
        features = read_polygons(polygons_file)
        synopsis, _ = read_release(file)
        answers = _ask_polygons(synopsis, features, polygons_file, confidence, area_name, whole=want_whole)
        _tell(answers, synopsis, form, file, output, overwrite=overwrite, features=features)
        return
    checked = read_rects(rects_file) if rects_file else typed_rects(rects) if rects else None
    synopsis, _ = read_release(file)
    if checked is not None:
        warn_of_outside(checked, synopsis.domain)
        answers = ask(synopsis, checked, confidence=confidence)
    else:
        answers = ask_areas(synopsis, level=level, whole=want_whole, confidence=confidence)
    _tell(answers, synopsis, form, file, output, overwrite=overwrite)


def _tell(
    answers: Answers,
    synopsis: "Synopsis",
    form: "OutputForm",
    file: Path,
    output: Path | None,
    *,
    overwrite: bool,
    features: "Features | None" = None,
) -> None:
    """Print answers or write them to a file; what their readers must know goes beside them."""
    if form == "table":
        click.echo(answers.table())
        return
    if form == "json":
        heading = {"file": str(file), "simulation": synopsis.simulation, "confidence": answers.confidence}
        click.echo(as_json({**heading, "caveats": list(answers.caveats), "answers": answers.records()}))
        return
    if output is None:
        _write(answers, features, synopsis, sys.stdout.buffer, form=form)
        sys.stdout.buffer.flush()
    else:
        with new_file(output, overwrite=overwrite) as out:
            _write(answers, features, synopsis, out, form=form)
        click.echo(output)
    for caveat in answers.caveats:
        note(caveat)


def _write(
    answers: Answers, features: "Features | None", synopsis: "Synopsis", out: "BinaryIO", *, form: "OutputForm"
) -> None:
    """Write answers for other programs."""
    if features is None or form == "csv":
        out.writelines(line.encode() for line in answers.csv())
    elif form == "geojson":
        out.writelines(part.encode() for part in features.geojson(answers.values, NUMBERS))
    else:
        from hushgrid.export.vectors import write_layer

        values = {name: answers.values[name] for name in NUMBERS}
        fields = {**features.fields(), **values}
        crs = "EPSG:4326" if features.crs == LONGITUDE_LATITUDE else features.crs
        write_layer(synopsis, fields, features.wkb(), out, layer="polygons", kind="MultiPolygon", crs=crs)


OutputForm = Literal["table", "json", "csv", "geojson", "gpkg"]
FORMS: dict[str, OutputForm] = {".geojson": "geojson", ".json": "geojson", ".csv": "csv", ".gpkg": "gpkg"}


def _format(want_json: bool, want_csv: bool, want_geojson: bool, output: Path | None) -> "OutputForm":
    """The one form that is asked for, by an option or by the ending of a file."""
    if sum((want_json, want_csv, want_geojson, output is not None)) > 1:
        msg = "Choose one of --json, --csv, --geojson and -o FILE, whose ending says the format."
        raise click.UsageError(msg)
    if output is not None and output.suffix.lower() not in FORMS:
        msg = f"-o writes GeoJSON, CSV or a GeoPackage, and must end in {', '.join(FORMS)}; got {output}."
        raise ArgumentError(msg, instead={"output": output.with_suffix(".geojson")} if output.name else None)
    if output is not None:
        return FORMS[output.suffix.lower()]
    return "json" if want_json else "csv" if want_csv else "geojson" if want_geojson else "table"


def _ask_polygons(
    synopsis: "Synopsis",
    features: "Features",
    file: Path,
    confidence: float,
    area_name: str | None,
    *,
    whole: bool,
) -> Answers:
    from hushgrid.synopsis.answer import check_confidence

    check_confidence(confidence)  # so that complaints after it are about the polygons
    try:
        answers = ask_polygons(synopsis, features, confidence=confidence, area_name=area_name, whole=whole)
    except ArgumentError as error:
        raise refused(file, str(error)) from None
    _warn_of_nothing(answers, features, synopsis)
    return answers


def _warn_of_nothing(answers: Answers, features: "Features", synopsis: "Synopsis") -> None:
    """Warn of a polygon that lies where nothing was counted."""
    from hushgrid.answering.areas import has_outline

    assert answers.names is not None
    outside = (answers.values["noise_std"] == 0) & has_outline(features.geometry)
    if outside.any():
        number = int(outside.argmax())
        others = f" So do {int(outside.sum()) - 1:,} more." if outside.sum() > 1 else ""
        where = "the domain" if synopsis.partition.tiles else "the areas of the release, in the domain"
        warn(
            f"feature {number} ({shortened(answers.names[number])}) lies outside {where} "
            f"{exact_text(synopsis.domain.bounds)}, where nothing was counted.{others}"
        )
