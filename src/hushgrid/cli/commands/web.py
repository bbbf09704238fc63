"""``hushgrid map`` and ``hushgrid serve``: releases in the browser."""

import signal
from contextlib import suppress
from pathlib import Path

import click

from hushgrid.cli.files import check_output, read_release, result_path
from hushgrid.cli.parameters import example
from hushgrid.cli.text import note, warn
from hushgrid.errors import ArgumentError

ENDINGS = (".html", ".htm")


@click.command("map", epilog=example("map trips.dp.parquet -o trips.html"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="HTML|-", help="File to write.")
@click.option(
    "--overlay",
    type=click.Path(path_type=Path),
    metavar="GEOJSON",
    help="Areas and lines to draw instead of coastlines and borders, in the coordinates of the release.",
)
@click.option("--area-name", metavar="FIELD", help="Property of the overlay's areas that has their names.")
@click.option("--title", metavar="TEXT", help="Heading of the page. [default: the name of FILE]")
@click.option("--description", metavar="TEXT", help="What stands below the heading.")
@click.option(
    "--basemap",
    metavar="URL",
    help="Address of tiles to draw below the release, with {z}, {x} and {y}. The page needs the network then.",
)
@click.option("--basemap-credit", metavar="TEXT", help="Who made the tiles. [default: their server]")
@click.option("--overwrite", is_flag=True, help="Replace HTML if it exists.")
def draw_map(
    file: Path,
    output: Path,
    overlay: Path | None,
    area_name: str | None,
    title: str | None,
    description: str | None,
    basemap: str | None,
    basemap_credit: str | None,
    overwrite: bool,
) -> None:
    """Draw a release as a web page that answers questions.

    FILE is a release made by "hushgrid publish". The page is one file. It works offline and sends nothing anywhere,
    unless it is given a basemap. A release on areas, and any release with areas in its overlay, has a table of them.
    """
    from hushgrid.files.paths import new_file
    from hushgrid.web.basemap import Basemap
    from hushgrid.web.overlay import read_overlay
    from hushgrid.web.page import map_page
    from hushgrid.web.shelf import title_of

    if area_name is not None and overlay is None:
        msg = "--area-name names the areas of an overlay, and there is none. Give --overlay GEOJSON, too."
        raise ArgumentError(msg)
    if basemap_credit is not None and basemap is None:
        msg = "--basemap-credit names who made a basemap, and there is none. Give --basemap URL, too."
        raise ArgumentError(msg)
    tiles = Basemap(basemap, basemap_credit or "") if basemap is not None else None
    check_output(output, overwrite=overwrite, endings=ENDINGS, is_text=True)
    areas = read_overlay(overlay) if overlay else None
    synopsis, _ = read_release(file)
    page = map_page(
        synopsis,
        title=title or title_of(file),
        description=description,
        overlay=areas,
        area_name=area_name,
        basemap=tiles,
    )
    with result_path(output, ENDINGS[0]) as path, new_file(path, overwrite=overwrite) as out:
        out.write(page.encode())
    if tiles is not None:
        warn(f"the page needs the network, and {tiles.host} learns which part of the map a reader looks at.")
    note("Open it in a browser, or pass it on. It holds the release and nothing else.")


@click.command(epilog=example("serve trips.dp.parquet homes.dp.parquet --port 8080"))
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="FILE...")
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
def serve(files: tuple[Path, ...], host: str, port: int) -> None:
    """Serve releases to browsers and programs until interrupted.

    Every FILE is a release made by "hushgrid publish". Its page is the one that "hushgrid map" makes, with a switch to
    the others. /v1/ answers in JSON, and /openapi.json says how to ask. The address is printed when the server is
    ready.
    """
    from hushgrid.web.server import address_of, is_open, listen, raise_file_limit, server
    from hushgrid.web.shelf import Shelf, title_of

    with listen(host, port) as listener:
        shelf = Shelf([(title_of(file), read_release(file)[0]) for file in files])
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
