"""``hushgrid map`` and ``hushgrid serve``: releases in the browser."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hushgrid.cli import over_time
from hushgrid.cli.files import check_output, read_any, read_release, result_path, warn_of_simulation
from hushgrid.cli.parameters import example
from hushgrid.cli.text import note, warn
from hushgrid.errors import ArgumentError
from hushgrid.text import title_of

if TYPE_CHECKING:
    from hushgrid.slices.slices import Slices
    from hushgrid.synopsis.synopsis import Synopsis
    from hushgrid.web.series.served import ServedSeries

ENDINGS = (".html", ".htm")


polygons_option = click.option(
    "--polygons",
    "polygons_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Areas whose counts over time are shown, for a folder of releases. Any file that 'hushgrid query' takes.",
)


@click.command("map", epilog=example("map trips.dp.parquet -o trips.html", "map months -o series.html"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="HTML|-", help="File to write.")
@click.option(
    "--overlay",
    type=click.Path(path_type=Path),
    metavar="GEOJSON",
    help="Areas and lines to draw instead of coastlines and borders, in the coordinates of the release.",
)
@polygons_option
@click.option("--area-name", metavar="FIELD", help="Property that names the areas of the overlay or of the polygons.")
@click.option("--title", metavar="TEXT", help="Heading of the page. [default: the name of FILE]")
@click.option("--description", metavar="TEXT", help="Text below the heading.")
@click.option(
    "--basemap",
    metavar="URL",
    help="Address of tiles to draw below the release, with {z}, {x} and {y}. The page needs the network then.",
)
@click.option("--basemap-credit", metavar="TEXT", help="Who made the tiles. [default: their server]")
@click.option("--slice", "slice_name", metavar="NAME", help="Draw this slice alone. For a release in slices.")
@click.option("--overwrite", is_flag=True, help="Replace HTML if it exists.")
def draw_map(
    file: Path,
    output: Path,
    overlay: Path | None,
    polygons_file: Path | None,
    area_name: str | None,
    title: str | None,
    description: str | None,
    basemap: str | None,
    basemap_credit: str | None,
    slice_name: str | None,
    overwrite: bool,
) -> None:
    """Draw a release as a web page that answers questions.

    FILE is a release made by "hushgrid publish", or a folder of them, one for each period. The page is one file. It
    works offline and sends nothing anywhere, unless it is given a basemap. For a release on areas, or with areas in the
    overlay, it has a table of them. The page of a folder has a map of each period, and counts over time.
    """
    from hushgrid.files.paths import FOLDER, irregularity
    from hushgrid.web.basemap import Basemap
    from hushgrid.web.overlay import read_overlay
    from hushgrid.web.page import map_page

    if irregularity(file) == FOLDER:
        _refuse_of_folder({"--overlay": overlay, "--basemap": basemap or basemap_credit, "--slice": slice_name})
        page = _series_page(file, polygons_file, area_name, title, description, output, overwrite=overwrite)
        _write_page(page, output, overwrite=overwrite)
        note("Open it in a browser, or pass it on. It holds the releases and nothing else.")
        return
    if polygons_file is not None:
        msg = "--polygons are areas of a folder of releases. Draw areas on one release by --overlay GEOJSON."
        raise ArgumentError(msg)
    if area_name is not None and overlay is None:
        msg = "--area-name names the areas of an overlay, and there is none. Give --overlay GEOJSON, too."
        raise ArgumentError(msg)
    if basemap_credit is not None and basemap is None:
        msg = "--basemap-credit names who made a basemap, and there is none. Give --basemap URL, too."
        raise ArgumentError(msg)
    tiles = Basemap(basemap, basemap_credit or "") if basemap is not None else None
    check_output(output, overwrite=overwrite, endings=ENDINGS, is_text=True)
    areas = read_overlay(overlay) if overlay else None
    release = read_any(file)[0] if slice_name is None else read_release(file, slice_name)
    page = map_page(
        release,
        title=title or ", ".join([title_of(file), *([slice_name] if slice_name else [])]),
        description=description,
        overlay=areas,
        area_name=area_name,
        basemap=tiles,
    )
    _write_page(page, output, overwrite=overwrite)
    if tiles is not None:
        warn(f"the page needs the network, and {tiles.host} learns which part of the map a reader looks at.")
    note("Open it in a browser, or pass it on. It holds the release and nothing else.")


def _write_page(page: str, output: Path, *, overwrite: bool) -> None:
    from hushgrid.files.paths import new_file

    with result_path(output, ENDINGS[0]) as path, new_file(path, overwrite=overwrite) as out:
        out.write(page.encode())


def _refuse_of_folder(options: dict[str, object]) -> None:
    """Refuse options that the page of a series does not have."""
    for option in (option for option, given in options.items() if given is not None):
        msg = f"{option} is for the page of one release, and this is a folder of them. Leave it out, or name one file."
        raise ArgumentError(msg)


def _series_page(
    folder: Path,
    polygons_file: Path | None,
    area_name: str | None,
    title: str | None,
    description: str | None,
    output: Path,
    *,
    overwrite: bool,
) -> str:
    """The page of the releases of a folder."""
    from hushgrid.change.series import Series
    from hushgrid.web.series.page import series_page

    _check_area_name(area_name, polygons_file)
    check_output(output, overwrite=overwrite, endings=ENDINGS, is_text=True)
    series = Series(folder)
    if any(release.simulation for release in series.values()):
        warn_of_simulation()
    levels = over_time.counted_on(series, polygons_file, area_name)
    return series_page(series, levels, title=title or folder.resolve().name, description=description)


def _check_area_name(area_name: str | None, polygons_file: Path | None) -> None:
    if area_name is not None and polygons_file is None:
        msg = "--area-name names polygons, and there are none. Give --polygons FILE, too."
        raise ArgumentError(msg)


@click.command(epilog=example("serve trips.dp.parquet homes.dp.parquet --port 8080", "serve months"))
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="FILE...")
@polygons_option
@click.option("--area-name", metavar="FIELD", show_default="name or id", help="Property that names each polygon.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on. Use 0.0.0.0 for all.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    metavar="PORT",
    help="Port to listen on. Use 0 for any free port.",
)
def serve(files: tuple[Path, ...], polygons_file: Path | None, area_name: str | None, host: str, port: int) -> None:
    """Serve releases to browsers and programs until interrupted.

    Every FILE is a release made by "hushgrid publish", or a folder of them. Its page is the one that "hushgrid map"
    makes, with a switch to the others. Releases of one kind with periods in their names, such as trips-2026-03, have a
    page together: their counts over time. /v1/ answers in JSON, also for slices and sums of them, and
    /openapi.json says how to ask. The address is printed when the server is ready.
    """
    from hushgrid.web.server import address_of, is_open, listen, raise_file_limit, server
    from hushgrid.web.shelf import Shelf

    _check_area_name(area_name, polygons_file)
    with listen(host, port) as listener:
        titled = [(title_of(file), read_any(file)[0]) for file in _each_file(files)]
        shelf = Shelf(titled, series=_series_of(files, titled, polygons_file, area_name))
        running = server(shelf)
        raise_file_limit()
        if is_open(listener):
            warn(f"other machines can reach {host}, and there is no password. Anyone who asks gets an answer.")
        # The server stops in good order at either signal, then raises it again.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        click.echo(address_of(listener))
        note(f"Serving {', '.join(shelf.entries)}. Stop with Ctrl-C.")
        with suppress(KeyboardInterrupt):
            running.run(sockets=[listener])
    note("Stopped.")


def _each_file(files: tuple[Path, ...]) -> Iterator[Path]:
    """Files, and those of folders."""
    from hushgrid.change.series import release_files
    from hushgrid.files.paths import FOLDER, irregularity

    for file in files:
        yield from release_files(file) if irregularity(file) == FOLDER else [file]


def _series_of(
    files: tuple[Path, ...],
    titled: "Sequence[tuple[str, Synopsis | Slices]]",
    polygons_file: Path | None,
    area_name: str | None,
) -> "ServedSeries | None":
    """The series that releases make, if they make one.

    A note says why those of a folder do not.
    """
    from hushgrid.web.series.served import ServedSeries

    folder = files[0] if len(files) == 1 and len(titled) > 1 else None
    try:
        series = over_time.series_in(titled)
    except ArgumentError as error:
        if polygons_file is not None:
            msg = f"--polygons are areas of a series, which these releases are not: {error}"
            raise ArgumentError(msg) from None
        if folder is not None:
            note(f"There is no page of all releases together: {error}")
        return None
    levels = over_time.counted_on(series, polygons_file, area_name)
    return ServedSeries(title="All together" if folder is None else folder.resolve().name, series=series, levels=levels)
