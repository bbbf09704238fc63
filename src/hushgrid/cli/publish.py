"""``hushgrid publish``: points in, a release out."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from hushgrid.cli.account import LedgerOptions, manifest_paths, warn_of_domain, warn_of_large, write_manifest_files
from hushgrid.cli.completion import complete_file, complete_method
from hushgrid.cli.describe import suggest, summarise
from hushgrid.cli.files import check_release_output, on_disk, progress_bar
from hushgrid.cli.ledger import DEFAULT
from hushgrid.cli.parameters import example, to_total
from hushgrid.cli.polygons import read_polygons, refused
from hushgrid.cli.text import note
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, Domain

if TYPE_CHECKING:
    from hushgrid.cli.polygons import Features
    from hushgrid.counting.engine.address import Address
    from hushgrid.methods.areas import Areas
    from hushgrid.methods.uniform_grid import UniformGrid
    from hushgrid.release.request import Job
    from hushgrid.synopsis.synopsis import Synopsis


AUTO = "auto"
ON_AREAS = 0  # in place of the side of a grid


def chosen_method(
    method: str, areas_file: Path | None, area_name: str | None, distinct_users: int | None
) -> "str | UniformGrid | Areas":
    """The method by its name, or the grid that distinct users are counted on, or the areas given."""
    if areas_file is not None:
        if method != AUTO or distinct_users not in (None, ON_AREAS):
            msg = "--areas says what is counted on: leave --method out, and the SIDE of --distinct-users."
            raise ArgumentError(msg)
        return read_areas(areas_file, area_name)
    if area_name is not None:
        msg = f"--area-name is about areas, got --area-name {area_name} without --areas FILE."
        raise ArgumentError(msg)
    return method if distinct_users is None else _grid_of(distinct_users, method)


def chosen_domain(bounds: str | None, crs: str, method: "str | UniformGrid | Areas") -> Domain:
    """The domain written as ``W,S,E,N``, or the smallest one around the areas given."""
    from hushgrid.methods.areas import Areas

    if bounds is not None:
        return Domain.parse(bounds, crs=crs)
    if isinstance(method, Areas):
        return method.domain(crs)
    raise click.MissingParameter(param_type="option", param_hint="'--domain'")


def read_areas(path: Path, name: str | None) -> "Areas":
    """The areas of a file that `read_polygons` reads, called by a property of theirs, or as `query` calls them."""
    from hushgrid.methods.areas import Areas

    features = read_polygons(path)
    try:
        return Areas(features, names=features.names if name is None else _named(features, name))
    except ArgumentError as error:
        raise refused(path, str(error)) from None


def _named(features: "Features", name: str) -> list[str]:
    """One property of every feature, as text."""
    values = [(feature.get("properties") or {}).get(name) for feature in features.features]
    if any(value is None for value in values):
        known = sorted({str(key) for feature in features.features for key in feature.get("properties") or {}})
        msg = f"--area-name must be a property that every feature has, got {name!r}; there are: {', '.join(known)}."
        raise ArgumentError(msg)
    return [str(value) for value in values]


def _grid_of(side: int, method: str) -> "UniformGrid":
    """The public grid that distinct users are counted on."""
    from hushgrid.methods.uniform_grid import UniformGrid

    if side == ON_AREAS:
        msg = "--distinct-users needs something public to count on: the SIDE of a grid, such as 64, or --areas FILE."
        raise ArgumentError(msg)
    if method not in (AUTO, UniformGrid.name):
        msg = f"--distinct-users counts on a uniform grid: leave --method out, or give ug; got --method {method}."
        raise ArgumentError(msg)
    return UniformGrid(side=side)


EngineChoice = Literal["auto", "duckdb", "spark"]


def points_address(text: str, engine: EngineChoice, spark_conf: tuple[str, ...]) -> "Path | Address":
    """A path for our own readers, or an address for an engine.

    Examples
    --------
    >>> points_address("SELECT lon, lat FROM 'trips/*.parquet'", "duckdb", ()).engine
    'duckdb'
    >>> points_address("postgresql://me@host/trips?table=points", "auto", ()).engine
    'postgres'
    """
    from hushgrid.counting.engine.address import Address, is_query
    from hushgrid.counting.engine.postgres import is_postgres

    settings = dict(_setting(pair) for pair in spark_conf)
    if settings and engine != "spark":
        msg = "--spark-conf is about Spark. Give --engine spark as well, or leave it out."
        raise ArgumentError(msg)
    if is_postgres(text):
        if engine != "auto":
            msg = f"a URL of PostgreSQL is counted by its server. Leave out --engine {engine}."
            raise ArgumentError(msg)
        return Address(text=text, engine="postgres")
    if engine != "auto":
        return Address(text=text, engine=engine, spark_conf=settings)
    if is_query(text):
        msg = "a query needs an engine that answers it: --engine duckdb, or --engine spark."
        raise ArgumentError(msg)
    if "://" in text:
        msg = f"{text} is not a file here. --engine spark reads s3a://, hdfs:// and whatever else its session knows."
        raise ArgumentError(msg)
    return Path(text)


def _setting(pair: str) -> tuple[str, str]:
    key, sign, value = pair.partition("=")
    if not key or not sign:
        msg = f"--spark-conf is a setting of Spark, KEY=VALUE; got {pair!r}."
        raise ArgumentError(msg)
    return key, value


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
    account = LedgerOptions.of(dataset, ledger=ledger, new_release=new_release, resume=resume)
    place = points_address(points, engine, spark_conf)
    check_release_output(output, overwrite=overwrite)
    for path in (output, *(manifest_paths(output) if manifest else ())):
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
        write_manifest_files(synopsis, output, overwrite=overwrite)
    summarise(synopsis)
    suggest(domain, output, areas_file)
    warn_of_domain(synopsis)


def _published(job: "Job", points: "Path | Address") -> "Synopsis":
    from hushgrid.privacy.bits import SystemBits

    try:
        with on_disk(points) as place, progress_bar() as progress:
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
