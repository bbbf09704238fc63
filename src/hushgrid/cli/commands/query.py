"""``hushgrid query``: counts in rectangles and polygons."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from hushgrid.cli import over_time
from hushgrid.cli.answers import NUMBERS, WHAT_TO_ASK, Answers
from hushgrid.cli.files import check_one_reader, read_any, warn_of_simulation
from hushgrid.cli.parameters import Rect, example, read_rects, to_rects, typed_rects, warn_of_outside
from hushgrid.cli.polygons import read_polygons, refused, shortened
from hushgrid.cli.sliced import Chosen
from hushgrid.cli.text import as_json, note, warn
from hushgrid.errors import ArgumentError
from hushgrid.files.paths import FOLDER, check_target, irregularity, new_file
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, exact_text

if TYPE_CHECKING:
    from typing import BinaryIO

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from hushgrid.change.series import Series
    from hushgrid.cli.polygons import Features
    from hushgrid.synopsis.synopsis import Synopsis


@click.command(
    epilog=example(
        "query trips.dp.parquet --rect -74,40.7,-73.9,40.8 --rect -73.9,40.7,-73.8,40.8",
        "query trips.dp.parquet --rects areas.csv --csv > answers.csv",
        "query trips.dp.parquet --polygons districts.gpkg --area-name name --whole -o answers.csv",
        "query hours.dp.parquet --rect -74,40.7,-73.9,40.8 --slice 07,08,09",
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
    "--level", metavar="LEVEL", show_default="the finest", help="Level of areas to list. For a release on areas."
)
@click.option(
    "--whole", "want_whole", is_flag=True, help="Give whole numbers that add up. For polygons, or a release on areas."
)
@click.option(
    "--slice",
    "slice_text",
    metavar="NAME[,NAME]",
    show_default="all together",
    help="Slice to ask, or several to add up. For a release in slices.",
)
@click.option("--each", is_flag=True, help="Ask every slice of a release in slices, one by one.")
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
    help="Write a file: .csv, or for polygons also .geojson or .gpkg.",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
def query(
    file: Path,
    want_json: bool,
    want_csv: bool,
    want_geojson: bool,
    output: Path | None,
    overwrite: bool,
    **options: Any,  # those of `PlacesAsked`
) -> None:
    """Estimate how many points lie in rectangles or polygons.

    FILE is a release made by "hushgrid publish", or a folder of them, one for each period. Every estimate has an
    interval. Parts of an area outside the domain count nothing. Features of a polygon file are numbered from 0. If
    nothing is asked, a release on areas lists its areas, and one aimed at places lists the places. A release in slices
    answers for all of them together, unless --slice or --each say otherwise.
    """
    asked = PlacesAsked(**options)
    asked.check()
    check_one_reader(FILE=file, **{"--rects": asked.rects_file, "--polygons": asked.polygons_file})
    form = _format(want_json, want_csv, want_geojson, output)
    asked.check_form(form)
    if output is not None:
        check_target(output, overwrite=overwrite)
    confidence, whole = asked.confidence, asked.want_whole
    if irregularity(file) == FOLDER:
        if form in ONE_NUMBER or whole or asked.slice_text or asked.each:
            msg = "A folder of releases is answered as a table, --csv or --json, without --whole, --slice and --each."
            raise click.UsageError(msg)
        table, series = _ask_series(file, asked)
        over_time.tell(table, series, file, form=form, confidence=confidence, output=output, overwrite=overwrite)
        return
    features, rects = asked.features(), asked.rectangles()
    chosen = Chosen.of(read_any(file)[0], file, asked.slice_text, each=asked.each, whole=whole)
    if features is not None:
        answers = _ask_polygons(chosen, features, asked)
    elif rects is not None:
        warn_of_outside(rects, chosen.shown.domain)
        answers = chosen.ask(rects, confidence=confidence)
    else:
        answers = chosen.ask_areas(level=asked.level, whole=whole, confidence=confidence)
    _tell(answers, chosen.shown, form, file, output, overwrite=overwrite, features=features)


OutputForm = Literal["table", "json", "csv", "geojson", "gpkg"]
ONE_NUMBER: tuple[OutputForm, ...] = ("geojson", "gpkg")  # for each polygon
FORMS: dict[str, OutputForm] = {".geojson": "geojson", ".json": "geojson", ".csv": "csv", ".gpkg": "gpkg"}


@dataclass(frozen=True, kw_only=True)
class PlacesAsked:
    """What is asked about: rectangles, polygons or a release's own areas."""

    rects: list[Rect]
    rects_file: Path | None
    polygons_file: Path | None
    area_name: str | None
    level: str | None
    want_whole: bool
    slice_text: str | None
    each: bool
    confidence: float

    def check(self) -> None:
        """Refuse options that do not go together."""
        ways = sum(map(bool, (self.rects, self.rects_file, self.polygons_file)))
        if ways > 1 or (ways and self.level is not None) or (self.want_whole and (self.rects or self.rects_file)):
            msg = f"{WHAT_TO_ASK} --level is about the areas of the release itself, --whole about these or --polygons."
            raise click.UsageError(msg)
        if self.each and self.slice_text is not None:
            msg = "Choose one of --slice NAME and --each."
            raise click.UsageError(msg)

    def check_form(self, form: OutputForm) -> None:
        """Refuse a form that cannot hold the answers."""
        if form in ONE_NUMBER and self.polygons_file is None:
            msg = "GeoJSON and GeoPackage are for --polygons. Write rectangles as --json or --csv, and the areas of a "
            msg += "release with 'hushgrid export FILE --whole'."
            raise click.UsageError(msg)
        if form in ONE_NUMBER and self.each:
            msg = "GeoJSON and GeoPackage have one number for each polygon. Ask for one slice, or write --each as "
            msg += "--csv."
            raise click.UsageError(msg)

    def features(self) -> "Features | None":
        """The polygons of a file, if any are asked about."""
        return None if self.polygons_file is None else read_polygons(self.polygons_file)

    def rectangles(self) -> "NDArray[np.float64] | None":
        """The rectangles, if any are asked about, shape (n, 4)."""
        if self.rects_file:
            return read_rects(self.rects_file)
        return typed_rects(self.rects) if self.rects else None


def _ask_series(folder: Path, asked: PlacesAsked) -> "tuple[pa.Table, Series]":
    """What the releases of a folder say, and the releases."""
    from hushgrid.change.series import Series

    features, rects, confidence = asked.features(), asked.rectangles(), asked.confidence
    series = Series(folder)
    if any(release.simulation for release in series.values()):
        warn_of_simulation()
    if features is not None and (file := asked.polygons_file) is not None:
        return over_time.polygons_over_time(series, features, file, confidence, asked.area_name), series
    if rects is not None:
        warn_of_outside(rects, series.domain)
        return over_time.rectangles_over_time(series, rects, confidence), series
    if next(iter(series.values())).partition.tiles:
        raise click.UsageError(WHAT_TO_ASK)
    return series.table(asked.level, confidence=confidence), series


def _tell(
    answers: Answers,
    synopsis: "Synopsis",
    form: OutputForm,
    file: Path,
    output: Path | None,
    *,
    overwrite: bool,
    features: "Features | None" = None,
) -> None:
    """Print answers or write them to a file, and say their caveats."""
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
    answers: Answers, features: "Features | None", synopsis: "Synopsis", out: "BinaryIO", *, form: OutputForm
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


def _format(want_json: bool, want_csv: bool, want_geojson: bool, output: Path | None) -> OutputForm:
    """The form asked for by an option, or by a file's ending."""
    if sum((want_json, want_csv, want_geojson, output is not None)) > 1:
        msg = "Choose one of --json, --csv, --geojson and -o FILE, whose ending says the format."
        raise click.UsageError(msg)
    if output is not None and output.suffix.lower() not in FORMS:
        msg = f"-o writes GeoJSON, CSV or a GeoPackage, and must end in {', '.join(FORMS)}; got {output}."
        raise ArgumentError(msg, instead={"output": output.with_suffix(".geojson")} if output.name else None)
    if output is not None:
        return FORMS[output.suffix.lower()]
    return "json" if want_json else "csv" if want_csv else "geojson" if want_geojson else "table"


def _ask_polygons(chosen: Chosen, features: "Features", asked: PlacesAsked) -> Answers:
    from hushgrid.synopsis.answer import check_confidence

    check_confidence(asked.confidence)  # so that complaints after it are about the polygons
    assert asked.polygons_file is not None
    try:
        answers = chosen.ask_polygons(
            features, confidence=asked.confidence, area_name=asked.area_name, whole=asked.want_whole
        )
    except ArgumentError as error:
        raise refused(asked.polygons_file, str(error)) from None
    _warn_of_nothing(answers, features, chosen.shown)
    return answers


def _warn_of_nothing(answers: Answers, features: "Features", synopsis: "Synopsis") -> None:
    """Warn of a polygon that lies where nothing was counted."""
    from hushgrid.answering.areas import has_outline

    assert answers.names is not None
    found = answers.values["noise_std"][: len(features.features)]  # of the first slice, if there are several
    outside = (found == 0) & has_outline(features.geometry)
    if outside.any():
        number = int(outside.argmax())
        others = f" So do {int(outside.sum()) - 1:,} more." if outside.sum() > 1 else ""
        where = "the domain" if synopsis.partition.tiles else "the areas of the release, in the domain"
        warn(
            f"feature {number} ({shortened(answers.names[number])}) lies outside {where} "
            f"{exact_text(synopsis.domain.bounds)}, where nothing was counted.{others}"
        )
