"""``hushgrid publish``: points in, a release out."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from hushgrid.cli.account import Account
from hushgrid.cli.completion import complete_file, complete_method
from hushgrid.cli.counted_on import AUTO, ON_AREAS, chosen_domain, chosen_method
from hushgrid.cli.ledger import DEFAULT
from hushgrid.cli.misplaced import warn_of_large, warn_of_misplaced
from hushgrid.cli.notes import note
from hushgrid.cli.output_file import check_release_output
from hushgrid.cli.papers import paper_paths, write_papers
from hushgrid.cli.parameters import example, to_total
from hushgrid.cli.points_address import EngineChoice, points_address
from hushgrid.cli.progress import reading
from hushgrid.cli.standard_input import on_disk
from hushgrid.cli.summary import suggest, summarise
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import LONGITUDE_LATITUDE

if TYPE_CHECKING:
    from hushgrid.counting.engine.address import Address
    from hushgrid.release.request import Job
    from hushgrid.synopsis.synopsis import Synopsis

# Written out, so that --help need not import them.
METHODS = (
    "auto, ug, ag, staq, dag, quadtree, kd, kd-hybrid, balanced, dpcube, hierarchy, hb, privlet, privtree, "
    "uniform, identity"
)


@click.command(
    epilog=example("publish trips.parquet --domain -74.26,40.48,-73.70,40.92 --epsilon 1 -o trips.dp.parquet")
)
@click.argument("points", shell_complete=complete_file)
@click.option(
    "--domain",
    "bounds",
    metavar="W,S,E,N",
    help="The public rectangle to cover: west, south, east, north. Needed, unless there are --areas to be covered.",
)
@click.option("--epsilon", required=True, metavar="E", help="The privacy budget; smaller means more private.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Where to write.")
@click.option("--lon", metavar="COLUMN", help="Column of longitudes; the usual names are recognised.")
@click.option("--lat", metavar="COLUMN", help="Column of latitudes.")
@click.option("--geometry", metavar="COLUMN", help="Column of points, of GeoParquet or PostGIS.")
@click.option("--crs", metavar="EPSG:n", help="Reference system of the points, east first; longitude and latitude.")
@click.option("--grid-crs", metavar="EPSG:n", help="Reference system of the domain and the grid; that of the points.")
@click.option(
    "--method",
    default=AUTO,
    show_default=True,
    shell_complete=complete_method,
    metavar="METHOD",
    help=f"How to publish: {METHODS}.",
)
@click.option(
    "--areas",
    "areas_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Count on these public areas: polygons in GeoJSON, a GeoPackage or any other file that GDAL reads.",
)
@click.option("--area-name", metavar="FIELD", help="Property that names each area; name or id. With --areas.")
@click.option("--user-column", metavar="COLUMN", help="Column that tells whose record it is; protects users.")
@click.option("--max-per-user", type=int, metavar="K", help="Records of each user to keep; with --user-column.")
@click.option(
    "--missing-user",
    type=click.Choice(["drop", "own"]),
    default="drop",
    show_default=True,
    help="Records without a user id: leave them out, or take each for a user of its own.",
)
@click.option(
    "--scale-to-total",
    callback=to_total,
    metavar="N|private",
    help="Scale counts of kept records to a public total, or to a noisy one for a twentieth of the budget.",
)
@click.option("--max-for-total", type=int, metavar="B", help="Records of each user in a private total; ten times K.")
@click.option(
    "--distinct-users",
    type=int,
    is_flag=False,
    flag_value=ON_AREAS,
    metavar="[SIDE]",
    help="Count users, not records, each once in at most K cells of a SIDE x SIDE grid, or of the --areas.",
)
@click.option("--public-size", type=int, metavar="N", help="About how many points, if that is public knowledge.")
@click.option(
    "--size-from",
    type=click.Choice(["rows", "domain"]),
    default="rows",
    show_default=True,
    help="What the noisy size counts: all rows, or points in the domain at the price of one more pass.",
)
@click.option("--dataset", metavar="NAME", help="Charge the release to this data set of a ledger.")
@click.option(
    "--ledger",
    shell_complete=complete_file,
    metavar="PATH|URL",
    help=f"That ledger; HUSHGRID_LEDGER or {DEFAULT} if not given. With --dataset.",
)
@click.option("--new-release", is_flag=True, help="Pay for another release, even if the ledger has this one.")
@click.option("--resume", type=int, metavar="ENTRY", help="Go on with an entry of the ledger that was cut off.")
@click.option(
    "--engine",
    type=click.Choice(["auto", "duckdb", "spark"]),
    default="auto",
    show_default=True,
    help="What counts: hushgrid itself, DuckDB for whatever it reads, or a Spark session.",
)
@click.option("--spark-conf", multiple=True, metavar="KEY=VALUE", help="A setting of the Spark session; repeatable.")
@click.option(
    "--calibrate/--no-calibrate",
    default=True,
    show_default=True,
    help="Find how wide the intervals of this release have to be; takes about as long as the release.",
)
@click.option("--manifest", is_flag=True, help="Say in plain words, in files beside FILE, what the release promises.")
@click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
def publish(
    points: str,
    bounds: str | None,
    epsilon: str,
    output: Path,
    lon: str | None,
    lat: str | None,
    geometry: str | None,
    crs: str | None,
    grid_crs: str | None,
    method: str,
    areas_file: Path | None,
    area_name: str | None,
    user_column: str | None,
    max_per_user: int | None,
    missing_user: Literal["drop", "own"],
    scale_to_total: int | Literal["private"] | None,
    max_for_total: int | None,
    distinct_users: int | None,
    public_size: int | None,
    size_from: Literal["rows", "domain"],
    dataset: str | None,
    ledger: str | None,
    new_release: bool,
    resume: int | None,
    engine: EngineChoice,
    spark_conf: tuple[str, ...],
    calibrate: bool,
    manifest: bool,
    overwrite: bool,
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
    """
    from hushgrid.counting.engine.address import Address
    from hushgrid.files.paths import check_target
    from hushgrid.release.request import Job

    chosen = chosen_method(method, areas_file, area_name, distinct_users)
    domain = chosen_domain(bounds, grid_crs or crs or LONGITUDE_LATITUDE, chosen)
    account = Account.of(dataset, ledger=ledger, new_release=new_release, resume=resume)
    place = points_address(points, engine, spark_conf)
    check_release_output(output, overwrite=overwrite)
    for path in (output, *(paper_paths(output) if manifest else ())):
        check_target(path, overwrite=overwrite)
        _refuse_same(place, path)
    job = Job.of(
        domain=domain,
        epsilon=epsilon,
        method=chosen,
        lon=lon,
        lat=lat,
        geometry=geometry,
        crs=crs or LONGITUDE_LATITUDE,
        user=user_column,
        max_per_user=max_per_user,
        missing_user=missing_user,
        scale_to_total=scale_to_total,
        max_for_total=max_for_total,
        distinct=distinct_users is not None,
        public_size=public_size,
        size_from=size_from,
        calibrate=calibrate,
        query=place.query if isinstance(place, Address) else None,
    )
    warn_of_large(job.epsilon)
    if account is None:
        synopsis = _published(job, place)
        synopsis.save(output, overwrite=overwrite)
    else:
        synopsis = account.publish(job, place, output, overwrite=overwrite)
    click.echo(output)
    if crs is None:
        note("Points were taken as longitude and latitude; --crs says otherwise.")
    if manifest:
        write_papers(synopsis, output, overwrite=overwrite)
    summarise(synopsis)
    suggest(domain, output, areas_file)
    warn_of_misplaced(synopsis)


def _published(job: "Job", points: "Path | Address") -> "Synopsis":
    from hushgrid.privacy.bits import SystemBits

    try:
        with on_disk(points) as place, reading() as progress:
            return job.release(job.open(place), bits=SystemBits(), progress=progress)
    except KeyboardInterrupt:
        note("No release was made, so nothing was spent.")
        raise


def _refuse_same(points: "Path | Address", output: Path) -> None:
    if not isinstance(points, Path):
        return
    if output.exists() and points.exists() and output.samefile(points):
        msg = f"--output {output} is the file of the points themselves; give another path."
        raise ArgumentError(msg)
    if Path(os.path.realpath(points)) in output.resolve().parents:  # a link to itself resolves to nothing
        msg = f"--output {output} lies in the folder of the points, and would be taken for points; give another path."
        raise ArgumentError(msg)
