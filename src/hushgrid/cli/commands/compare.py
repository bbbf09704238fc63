"""``hushgrid compare``: what changed from one release to another."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import click

from hushgrid.cli.commands.change_report import ChangeReport
from hushgrid.cli.files import check_one_reader, one_slice, read_any, refuse_slices
from hushgrid.cli.parameters import example, to_slices
from hushgrid.cli.polygons import read_polygons, refused
from hushgrid.cli.text import as_json, note
from hushgrid.errors import ArgumentError
from hushgrid.files.paths import check_target, new_file
from hushgrid.text import title_of

if TYPE_CHECKING:
    from hushgrid.change.change import Change
    from hushgrid.cli.polygons import Features
    from hushgrid.synopsis.synopsis import Synopsis
    from hushgrid.web.change import ComparedPlaces

FORMS_BY_ENDING: dict[str, Literal["html", "csv"]] = {".html": "html", ".htm": "html", ".csv": "csv"}


@click.command(
    "compare",
    epilog=example(
        "compare 2026-02.dp.parquet 2026-03.dp.parquet --polygons districts.geojson --area-name name",
        "compare 2026-02.dp.parquet 2026-03.dp.parquet --grid 50 -o change.html",
        "compare 2026-02.dp.parquet 2026-03.dp.parquet --csv > change.csv",
    ),
)
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@click.option(
    "--polygons",
    "polygons_file",
    type=click.Path(path_type=Path),
    metavar="FILE|-",
    help="Compare on polygons: GeoJSON, a GeoPackage or anything else that GDAL reads. - is GeoJSON on standard input.",
)
@click.option("--area-name", metavar="FIELD", show_default="name or id", help="Property that names each polygon.")
@click.option(
    "--level", metavar="LEVEL", show_default="the finest", help="Compare on a level of areas of both releases."
)
@click.option(
    "--grid",
    type=int,
    metavar="N",
    show_default="as fine as is known",
    help="Compare on a grid with N blocks along the longer side.",
)
@click.option(
    "--slice",
    "slice_text",
    metavar="NAME[,NAME]",
    help="Compare this slice of both releases, or the first slice of BEFORE with the second of AFTER. BEFORE and AFTER "
    "may then be one file. A slice can also be compared with a release that has none.",
)
@click.option("--confidence", default=0.95, show_default=True, help="Confidence of the intervals.")
@click.option("--rate", default=0.05, show_default=True, help="Share of false alarms among the changes that are found.")
@click.option(
    "--correction",
    type=click.Choice(["bh", "holm"]),
    default="bh",
    show_default=True,
    help="For many comparisons: Benjamini and Hochberg's, or Holm's, with RATE the chance of any false alarm.",
)
@click.option("--json", "want_json", is_flag=True, help="Write JSON.")
@click.option("--csv", "want_csv", is_flag=True, help="Write CSV of all places, the surest change first.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Write a file: .html, a page with both maps and their difference, or .csv.",
)
@click.option("--title", metavar="TEXT", show_default="names of the files", help="Heading of the page.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
def compare_command(
    before: Path,
    after: Path,
    polygons_file: Path | None,
    area_name: str | None,
    level: str | None,
    grid: int | None,
    slice_text: str | None,
    want_json: bool,
    want_csv: bool,
    output: Path | None,
    title: str | None,
    overwrite: bool,
    **terms: Any,  # confidence, rate and correction, as `hushgrid.compare` takes them
) -> None:
    """Say what changed from one release to another.

    BEFORE and AFTER are releases made by "hushgrid publish", of one domain and with counts of the same kind. Without
    --polygons, --level or --grid, releases on the same areas are compared on these, and others on a grid. Every change
    has an interval from the noise of both, and a mark if it is more than noise explains.
    """
    from hushgrid.change.change import compare

    if sum(each is not None for each in (polygons_file, level, grid)) > 1:
        msg = "Compare on one of --polygons FILE, --level LEVEL and --grid N."
        raise click.UsageError(msg)
    if area_name is not None and polygons_file is None:
        msg = "--area-name names polygons, and there are none. Give --polygons FILE, too."
        raise ArgumentError(msg)
    check_one_reader(BEFORE=before, AFTER=after, **{"--polygons": polygons_file})
    if slice_text is None or "," not in slice_text:
        _check_two_files(before, after)
    form = _form(want_json, want_csv, output, title, overwrite=overwrite)
    polygons = None if polygons_file is None else read_polygons(polygons_file)
    compared = Compared.of((before, after), slice_text)
    change = compare(compared.before, compared.after, **terms)
    if polygons is None or polygons_file is None:
        report = _on_own_places(change, level, grid)
    else:
        report = _on_polygons(change, polygons, polygons_file, area_name)
    if form != "html":
        _tell(report, change, form, compared, output, overwrite=overwrite)
        return
    assert output is not None
    places = _drawn(change, report, polygons, level, grid)
    _draw(change, places, compared.called, output, title, overwrite=overwrite)


def _check_two_files(before: Path, after: Path) -> None:
    """Refuse one file under two names, of which two slices may be meant."""
    from hushgrid.change.comparable import check_two_files

    try:
        check_two_files(before, after)
    except ArgumentError as error:
        msg = f"{error.complaint} Of a release in slices, two can be compared: --slice BEFORE,AFTER."
        raise ArgumentError(msg) from None


class Compared(NamedTuple):
    """Two releases, their files, and the slice of each that has some."""

    before: "Synopsis"
    after: "Synopsis"
    files: tuple[Path, Path]
    slices: tuple[str | None, str | None]

    @classmethod
    def of(cls, files: tuple[Path, Path], slice_text: str | None) -> Self:
        """Read the releases that are compared, or a slice of each."""
        releases, slices = _two_releases(files, slice_text)
        return cls(*releases, files, slices)

    @property
    def called(self) -> tuple[str, str]:
        """What readers call the releases: by file, by slice, or by both."""
        titles = [title_of(file) for file in self.files]
        if titles[0] == titles[1] and None not in self.slices:
            titles = ["", ""]
        parts = ([title, name] for title, name in zip(titles, self.slices, strict=True))
        before, after = (", ".join(part for part in each if part) for each in parts)
        return before, after


def _two_releases(
    files: tuple[Path, Path], slice_text: str | None
) -> "tuple[tuple[Synopsis, Synopsis], tuple[str | None, str | None]]":
    """The releases, or a slice of each, and the names of these."""
    from hushgrid.slices.slices import Slices

    found = [read_any(file)[0] for file in files]
    sliced = [each for each in found if isinstance(each, Slices)]
    if not sliced:
        refuse_slices(files[0], slice_text)
    names = to_slices(slice_text, [name for each in sliced for name in each.names]) if sliced else None
    if names is not None and len(names) > len(sliced):
        several = "two slices can be compared, one before and one after"
        one = "one of the releases has slices, so that one slice is compared with the other release"
        msg = f"{one if len(sliced) == 1 else several}; got --slice {slice_text}."
        raise ArgumentError(msg)
    wanted = [None, None] if names is None else [names[0], names[-1]]
    chosen = [name if isinstance(each, Slices) else None for each, name in zip(found, wanted, strict=True)]
    releases = [
        one_slice(each, file, name) if isinstance(each, Slices) else each
        for each, file, name in zip(found, files, chosen, strict=True)
    ]
    return (releases[0], releases[1]), (chosen[0], chosen[1])


Form = Literal["table", "json", "csv", "html"]


def _form(want_json: bool, want_csv: bool, output: Path | None, title: str | None, *, overwrite: bool) -> Form:
    """The form asked for by an option, or by a file's ending."""
    if sum((want_json, want_csv, output is not None)) > 1:
        msg = "Choose one of --json, --csv and -o FILE, whose ending says the format."
        raise click.UsageError(msg)
    if output is not None and output.suffix.lower() not in FORMS_BY_ENDING:
        msg = f"-o writes a page or CSV, and must end in {', '.join(FORMS_BY_ENDING)}; got {output}."
        raise ArgumentError(msg, instead={"output": output.with_suffix(".html")} if output.name else None)
    form: Form = FORMS_BY_ENDING[output.suffix.lower()] if output is not None else "table"
    if title is not None and form != "html":
        msg = "--title is the heading of a page. Give -o change.html, too."
        raise ArgumentError(msg)
    if output is not None:
        check_target(output, overwrite=overwrite)
    return "json" if want_json else "csv" if want_csv else form


def _on_polygons(change: "Change", polygons: "Features", file: Path, area_name: str | None) -> ChangeReport:
    """What changed in polygons of a file."""
    try:
        names, difference = polygons.called(area_name), change.answer_polygons(polygons)
    except ArgumentError as error:
        raise refused(file, str(error)) from None
    return ChangeReport(noun="area", names=names, difference=difference, **_told(change))


def _on_own_places(change: "Change", level: str | None, grid: int | None) -> ChangeReport:
    """What changed in areas of both releases, or in blocks of a grid."""
    if grid is None and (level is not None or change.on_same_areas):
        names, difference = change.areas(level)
        noun = level or change.before.partition.level  # type: ignore[attr-defined]  # of areas
        return ChangeReport(noun=noun, names=names, difference=difference, **_told(change))
    if grid is None:
        _refuse_areas(change)
    blocks, difference = change.blocks(grid)
    return ChangeReport(noun="block", bounds=blocks.bounds(), difference=difference, **_told(change))


def _refuse_areas(change: "Change") -> None:
    """Refuse to choose a grid for areas, which know nothing finer than themselves."""
    from hushgrid.change.comparable import check_same_areas

    if not (change.before.partition.tiles and change.after.partition.tiles):
        check_same_areas(change.before, change.after)


def _told(change: "Change") -> dict[str, Any]:
    """What readers of a report must know: caveats, and what intervals hold."""
    from hushgrid.synopsis.facts import Facts

    return {"caveats": change.caveats(), "covered": bool(Facts.of(change.before).covered)}


def _tell(
    report: ChangeReport,
    change: "Change",
    form: Form,
    compared: Compared,
    output: Path | None,
    *,
    overwrite: bool,
) -> None:
    """Print a report or write it to a file, and say its caveats."""
    terms = change.terms
    if form == "table":
        click.echo(report.table())
    elif form == "json":
        before, after = map(str, compared.files)
        heading: dict[str, Any] = {"before": before, "after": after}
        if any(compared.slices):
            heading["slices"] = compared.slices
        simulation = change.before.simulation or change.after.simulation
        asked = {"confidence": terms.confidence, "rate": terms.rate, "correction": terms.correction}
        told = {"simulation": simulation, **asked, "sentence": report.sentence, "caveats": list(report.caveats)}
        click.echo(as_json({**heading, **told, "changes": report.records()}))
    else:
        text = "".join(report.csv()).encode()
        if output is None:
            sys.stdout.buffer.write(text)
            sys.stdout.buffer.flush()
        else:
            with new_file(output, overwrite=overwrite) as out:
                out.write(text)
            click.echo(output)
        note(report.sentence)
        for caveat in report.caveats:
            note(caveat)


def _drawn(
    change: "Change", report: ChangeReport, polygons: "Features | None", level: str | None, grid: int | None
) -> "list[ComparedPlaces]":
    """What a page shows: the polygons, one level, all levels, or blocks."""
    from hushgrid.web.change import polygon_places, usual_places

    if polygons is not None and report.names is not None:
        return [polygon_places(change, polygons, report.names, report.difference)]
    return [places for places in usual_places(change, grid=grid) if level in (None, places.noun)]


def _draw(
    change: "Change",
    places: "list[ComparedPlaces]",
    called: tuple[str, str],
    output: Path,
    title: str | None,
    *,
    overwrite: bool,
) -> None:
    """Write the page of a change."""
    from hushgrid.web.change import change_page

    page = change_page(change, places, title=title or "From {} to {}".format(*called), called=called)
    with new_file(output, overwrite=overwrite) as out:
        out.write(page.encode())
    click.echo(output)
    note(places[-1].difference.sentence(places[-1].noun))
    note("Open it in a browser, or pass it on. It holds both releases and nothing else.")
