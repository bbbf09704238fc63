"""``hushgrid publish``: points in, a release out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hushgrid.cli.arguments import (
    ON_AREAS,
    AreasAsked,
    EngineChoice,
    chosen_domain,
    chosen_method,
    points_address,
    refuse_same,
)
from hushgrid.cli.commands.check import confirm_noise, dry_run
from hushgrid.cli.commands.describe import suggest, summarise
from hushgrid.cli.commands.manifest import manifest_paths, write_manifest_files
from hushgrid.cli.files import check_release_output, on_disk, progress_bar
from hushgrid.cli.parameters import complete_file, complete_method, example, to_texts, to_total
from hushgrid.cli.text import note, warn
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import LONGITUDE_LATITUDE
from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT
from hushgrid.ledger import DEFAULT_LEDGER
from hushgrid.methods import METHODS
from hushgrid.methods.staq import Staq
from hushgrid.release.auto import AUTO

if TYPE_CHECKING:
    from hushgrid.counting.engine.address import Address


class Sections(click.Command):
    """A command whose help lists its options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section of options, in the order of the source."""
        sections: dict[str, list[tuple[str, str]]] = {}
        options = (parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option))
        for option in sorted(options, key=lambda option: not hasattr(option, "section")):
            record = option.get_help_record(ctx)
            if record is not None:
                sections.setdefault(getattr(option, "section", "Other"), []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def section(heading: str, *options: Decorator) -> Decorator:
    """Options that the help lists under one heading."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        before = set(map(id, getattr(command, "__click_params__", ())))
        for option in reversed(options):
            command = option(command)
        for parameter in command.__click_params__:  # type: ignore[attr-defined]  # where click keeps them
            if id(parameter) not in before:
                parameter.section = heading
        return command

    return decorate


POINTS = section(
    "Points",
    click.option("--lon", metavar="COLUMN", help="Column of longitudes. Usual names are recognised."),
    click.option("--lat", metavar="COLUMN", help="Column of latitudes. Usual names are recognised."),
    click.option("--geometry", metavar="COLUMN", help="Column of points, in GeoParquet or PostGIS."),
    click.option(
        "--crs",
        metavar="EPSG:n",
        show_default=LONGITUDE_LATITUDE,
        help="CRS of the points, east before north.",
    ),
    click.option(
        "--delimiter",
        metavar="SIGN",
        show_default="by the header line",
        help="What stands between the columns of a CSV file: , ; | or tab.",
    ),
    click.option(
        "--decimal",
        metavar="SIGN",
        show_default="either, or . if columns have commas between them",
        help="What stands before the decimals of its numbers: . or ,",
    ),
    click.option(
        "--domain",
        "bounds",
        metavar="W,S,E,N",
        help="The public rectangle to cover: west, south, east, north. With --areas FILE, it may be left out.",
    ),
    click.option(
        "--grid-crs",
        "--domain-crs",
        "domain_crs",
        metavar="EPSG:n",
        default=LONGITUDE_LATITUDE,
        show_default=True,
        help="CRS of the domain and the grid, whatever the points are in.",
    ),
)
PRIVACY = section(
    "Privacy",
    click.option("--epsilon", required=True, metavar="E", help="The privacy budget. Smaller means more private."),
    click.option("--user-column", "user", metavar="COLUMN", help="Protect users: the column that says whose record."),
    click.option("--max-per-user", type=int, metavar="K", help="Records to keep of each user. With --user-column."),
    click.option(
        "--missing-user",
        type=click.Choice(["drop", "own"]),
        default="drop",
        show_default=True,
        help="Records without a user id: leave them out, or make each a user of its own.",
    ),
    click.option(
        "--scale-to-total",
        callback=to_total,
        metavar="N|private",
        help="Scale counts of kept records to N records, or to a noisy total for a twentieth of the budget.",
    ),
    click.option(
        "--max-for-total",
        type=int,
        metavar="B",
        show_default="10 x K",
        help="Records of each user that a private total counts.",
    ),
    click.option(
        "--kept-share/--no-kept-share",
        default=True,
        show_default=True,
        help="Say which share of the records was kept, for a fiftieth of the budget. With --user-column.",
    ),
    click.option(
        "--distinct-users",
        type=int,
        is_flag=False,
        flag_value=ON_AREAS,
        metavar="[SIDE]",
        help="Count users, not records: each once in at most K cells of a SIDE x SIDE grid, or of the --areas.",
    ),
)
METHOD = section(
    "Method",
    click.option(
        "--method",
        default=AUTO,
        show_default=True,
        shell_complete=complete_method,
        metavar="METHOD",
        help=f"How to publish: {', '.join([AUTO, *METHODS])}. Or what papers call it, such as uniform-grid, "
        "wavelet, K_st, U_64 or kd-paper.",
    ),
    click.option(
        "--areas",
        "areas_file",
        type=click.Path(path_type=Path),
        metavar="FILE|h3:R",
        help="Count on these public areas: polygons in GeoJSON, GeoPackage or any other file that GDAL reads; or H3 "
        "cells of the domain, h3:8 for those of resolution 8, and h3:5,8 for two levels.",
    ),
    click.option(
        "--area-name",
        metavar="FIELD",
        show_default="name or id",
        help="Property that names each area. With --areas.",
    ),
    click.option(
        "--levels",
        callback=to_texts,
        metavar="FIELD,...",
        help="Properties that areas lie in, the coarsest first, and last their own: state,county. With --areas.",
    ),
    click.option(
        "--level-shares",
        callback=to_texts,
        metavar="S,...",
        show_default="by the cube root of the number of areas",
        help="Share of the budget for each level; they sum to 1. With --levels.",
    ),
    click.option("--public-size", type=int, metavar="N", help="About how many points, if that is public knowledge."),
    click.option(
        "--size-from",
        type=click.Choice(["rows", "domain"]),
        default="rows",
        show_default=True,
        help="What the noisy size counts: all rows, or only points in the domain, which takes one more pass.",
    ),
    click.option(
        "--size-share",
        metavar="SHARE",
        default="0.01",
        show_default=True,
        help="Share of the budget for the noisy size.",
    ),
    click.option(
        "--max-cells",
        type=int,
        metavar="N",
        show_default=f"{Staq.most_cells:,} for staq, else {GUIDELINE_CELL_LIMIT:,}",
        help="Most cells to divide the domain into, where the noisy size decides.",
    ),
    click.option(
        "--calibrate/--no-calibrate",
        default=True,
        show_default=True,
        help="Find how wide the intervals of this release must be. Adds about a third to its time, or less.",
    ),
)
LEDGER = section(
    "Ledger",
    click.option("--dataset", metavar="NAME", help="Charge the release to this data set of a ledger."),
    click.option(
        "--ledger",
        shell_complete=complete_file,
        metavar="PATH|URL",
        show_default=f"HUSHGRID_LEDGER or {DEFAULT_LEDGER}",
        help="The ledger. With --dataset.",
    ),
    click.option("--new-release", is_flag=True, help="Pay for another release, even if the ledger has this one."),
    click.option("--resume", type=int, metavar="ENTRY", help="Go on with an entry of the ledger that was cut off."),
)
ENGINE = section(
    "Engine",
    click.option(
        "--engine",
        type=click.Choice(["auto", "duckdb", "spark"]),
        default="auto",
        show_default=True,
        help="What counts: hushgrid itself, DuckDB for whatever it reads, or a Spark session.",
    ),
    click.option("--spark-conf", multiple=True, metavar="KEY=VALUE", help="A setting of Spark. May be repeated."),
)
CHECK = section(
    "Check",
    click.option("--check", is_flag=True, help="Only say what would be published, at what cost. Reads no record."),
    click.option(
        "--points-about",
        type=int,
        metavar="N",
        help="Rough number of points, from public knowledge; of users, of kept records. Used to foresee errors alone.",
    ),
    click.option(
        "--look",
        is_flag=True,
        help="NOT PRIVATE, for your eyes only: show the first rows, and the share of rows in the domain. With --check.",
    ),
    click.option("--yes", is_flag=True, help="Publish even if that would be mostly noise."),
)
OUTPUT = section(
    "Output",
    click.option(
        "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Where to write."
    ),
    click.option("--manifest", is_flag=True, help="Write a plain account of the release beside FILE."),
    click.option("--overwrite", is_flag=True, help="Replace FILE if it exists."),
)


@click.command(
    "publish",
    cls=Sections,
    epilog=example("publish trips.parquet --domain -74.26,40.48,-73.70,40.92 --epsilon 1 -o trips.dp.parquet"),
)
@click.argument("points", shell_complete=complete_file)
@POINTS
@PRIVACY
@METHOD
@LEDGER
@ENGINE
@CHECK
@OUTPUT
def publish_command(
    points: str,
    bounds: str | None,
    domain_crs: str,
    method: str,
    areas_file: Path | None,
    area_name: str | None,
    levels: tuple[str, ...] | None,
    level_shares: tuple[str, ...] | None,
    distinct_users: int | None,
    engine: EngineChoice,
    spark_conf: tuple[str, ...],
    check: bool,
    points_about: int | None,
    look: bool,
    yes: bool,
    output: Path,
    manifest: bool,
    overwrite: bool,
    **asked: Any,  # arguments of `hushgrid.publish`, by their names there
) -> None:
    """Publish points as a release under differential privacy.

    POINTS is a Parquet, GeoParquet or CSV file with one record a row, a folder of Parquet files, or - for standard
    input. Rows whose coordinates are missing, unreadable or outside the domain are ignored. The release may be shown
    to anyone; what it costs is stated in it.

    With --engine duckdb, POINTS may be a pattern of files (Parquet, CSV), FILE.duckdb?table=NAME or a SELECT; with
    --engine spark, a folder of Parquet, an address such as s3a://bucket/trips, a table or a SELECT.
    postgresql://USER@HOST/DATABASE?table=NAME is counted by the server.

    It protects single records, or with --user-column each user with all their records: then at most K of a user's
    records are kept, chosen at random, and counts are of kept records.

    With --dataset the budget is taken from a ledger before anything is read; see 'hushgrid ledger'. The same request
    gives back the same release, at no cost.

    With --check nothing is published: it says what the columns are taken for, what would be charged and promised, and
    what to expect.
    """
    from hushgrid.counting.engine.address import Address
    from hushgrid.release.advice import domain_warning, epsilon_warning, total_warning
    from hushgrid.release.publish import Charge, Delivery, deliver
    from hushgrid.release.request import ReleaseRequest

    if look and not check:
        msg = "--look shows rows beside a dry run. Give --check as well, or leave it out."
        raise ArgumentError(msg)
    areas = AreasAsked(file=areas_file, name=area_name, levels=levels or (), shares=level_shares)
    chosen = chosen_method(method, areas, distinct_users)
    crs = asked.pop("crs")
    domain = chosen_domain(bounds, domain_crs, chosen, crs_of_points=crs)
    charge_of = {name: asked.pop(name) for name in ("ledger", "dataset", "new_release", "resume")}
    place = points_address(points, engine, spark_conf)
    arguments = {
        **asked,
        "domain": domain,
        "method": chosen,
        "crs": crs or LONGITUDE_LATITUDE,
        "distinct": distinct_users is not None,
        "query": place.query if isinstance(place, Address) else None,
    }
    check_paths = partial(_check_paths, place, output, manifest=manifest, overwrite=overwrite)
    if check:
        dry_run(
            place,
            arguments,
            charge=charge_of,
            output=output,
            overwrite=overwrite,
            check_paths=check_paths,
            points_about=points_about,
            look=look,
            yes=yes,
        )
        return
    charge = Charge.of(**charge_of)
    check_paths()
    request = ReleaseRequest.of(**arguments)
    confirm_noise(request, points_about, yes=yes)
    with _notes_of_errors(), on_disk(place, can_be_resumed=charge is not None) as source, progress_bar() as bar:
        delivery = Delivery(output=output, overwrite=overwrite, tell=note, warn=warn, **bar._asdict())
        delivery.warn_of(epsilon_warning, request.epsilon)
        synopsis = deliver(request, source, charge=charge, delivery=delivery)
    click.echo(output)
    if crs is None:
        note("Points were taken as longitude and latitude; --crs says otherwise.")
    if manifest:
        write_manifest_files(synopsis, output, overwrite=overwrite)
    summarise(synopsis)
    suggest(domain, output, areas_file)
    delivery.warn_of(domain_warning, synopsis)
    delivery.warn_of(total_warning, synopsis)


def _check_paths(points: "Path | Address", output: Path, *, manifest: bool, overwrite: bool) -> None:
    """Refuse what cannot be written, before anything is read or paid for."""
    from hushgrid.files.paths import check_target

    check_release_output(output, overwrite=overwrite)
    for path in (output, *(manifest_paths(output) if manifest else ())):
        check_target(path, overwrite=overwrite)
        refuse_same(points, path)


@contextmanager
def _notes_of_errors() -> Iterator[None]:
    """Say what an error notes about the budget."""
    try:
        yield
    except BaseException as error:
        for text in getattr(error, "__notes__", ()):
            note(text)
        raise
