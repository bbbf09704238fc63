"""The options of ``hushgrid publish``, under the headings of its help."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click

from hushgrid.cli.arguments import ON_AREAS
from hushgrid.cli.parameters import complete_file, complete_method, to_texts, to_total
from hushgrid.cli.recipe import WithRecipe
from hushgrid.geometry.domain import LONGITUDE_LATITUDE
from hushgrid.geometry.grid import GUIDELINE_CELL_LIMIT
from hushgrid.ledger import DEFAULT_LEDGER
from hushgrid.methods import METHODS
from hushgrid.methods.staq import Staq
from hushgrid.release.auto import AUTO
from hushgrid.slices.axes import TimeKind, Unit


class Sections(WithRecipe):
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
        show_default="as in the header line",
        help="Sign between the columns of a CSV file: , ; | or tab.",
    ),
    click.option(
        "--decimal",
        metavar="SIGN",
        show_default="either, but only . if commas separate the columns",
        help="Decimal sign of the numbers in a CSV file: . or ,",
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
        help="CRS of the domain and the grid. The points may be in another.",
    ),
)
PRIVACY = section(
    "Privacy",
    click.option("--epsilon", required=True, metavar="E", help="The privacy budget. Smaller means more private."),
    click.option(
        "--user-column", "user", metavar="COLUMN", help="Protect users, not single records: the column of user ids."
    ),
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
        show_default="10 x K; with --estimate, as many as the noise allows",
        help="Most records of each user in a private total, in the share kept, or in --estimate all-records.",
    ),
    click.option(
        "--kept-share/--no-kept-share",
        default=True,
        show_default=True,
        help="Measure which share of the records was kept, for a fiftieth of the budget. With --user-column.",
    ),
    click.option(
        "--estimate",
        type=click.Choice(["kept-records", "all-records"]),
        default="kept-records",
        show_default=True,
        help="Count kept records, or estimate all records for a third of the budget. With --user-column.",
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
        help="Properties that name the levels, from the coarsest to the areas themselves: state,county. With --areas.",
    ),
    click.option(
        "--level-shares",
        callback=to_texts,
        metavar="S,...",
        show_default="by the cube root of the number of areas",
        help="Share of the budget for each level; they sum to 1. With --levels.",
    ),
    click.option(
        "--prior",
        metavar="places|FILE|none",
        show_default="none",
        shell_complete=complete_file,
        help="Sharpen the release by what is public already, at no cost: the places of the world, a GeoTIFF of "
        "population, points or polygons (GeoJSON, Parquet), or an earlier release. For staq.",
    ),
    click.option(
        "--prior-weight", metavar="COLUMN", help="Weight of each point or polygon of the prior, such as its people."
    ),
    click.option(
        "--aim",
        metavar="PLACES|LENGTH|SHARE%",
        shell_complete=complete_file,
        help="Make the release for what will be asked. PLACES are public polygons (.geojson, .parquet), each counted "
        "by itself. A LENGTH or SHARE is the side of small squares, such as 200m, 1.5km, or 0.5% of the domain's; "
        "large areas then come out worse.",
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
        help="Most cells to divide the domain into, where their number follows from the noisy size.",
    ),
    click.option(
        "--calibrate/--no-calibrate",
        default=True,
        show_default=True,
        help="Find how wide the intervals of this release must be. Adds about a third to its time, or less.",
    ),
)
SLICES = section(
    "Slices",
    click.option("--by", metavar="COLUMN", help="Publish a map for each value of this column. With --values."),
    click.option(
        "--values",
        metavar="a,b,c|FILE",
        help="The values, one slice each, or a file with one value on each line. They are public: all are released, "
        "empty or not.",
    ),
    click.option(
        "--other", is_flag=True, help="Make one more slice for all other values. Otherwise they are not counted."
    ),
    click.option("--time", metavar="COLUMN", help="When each record was made. With --slices or --period."),
    click.option(
        "--slices",
        type=click.Choice(list(get_args(TimeKind))),
        help="How times are divided: into hours of the day, days of the week, or periods from --from to --to.",
    ),
    click.option(
        "--period",
        metavar="2026-03",
        help="Count records of this year, quarter (2026-Q1), month, week (2026-W09) or day alone. With --time.",
    ),
    click.option("--from", "start", metavar="DAY", help="First day of the first period, such as 2026-01-01."),
    click.option("--to", "end", metavar="DAY", help="The day after the last period, such as 2027-01-01."),
    click.option(
        "--timezone", metavar="ZONE", show_default="UTC", help="Time zone of the hours and days, such as Europe/Berlin."
    ),
    click.option(
        "--time-format", metavar="FORMAT", show_default="ISO 8601", help="How times are written, such as %d.%m.%Y %H:%M"
    ),
    click.option(
        "--time-unit",
        type=click.Choice(["s", "ms", *get_args(Unit)]),
        help="Times are whole numbers: seconds or milliseconds since 1970.",
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
    click.option("--resume", type=int, metavar="ENTRY", help="Go on with this entry of the ledger, which was cut off."),
    click.option(
        "--series",
        is_flag=True,
        help="Sharpen the release by the latest earlier one of this data set and domain, at no cost. For staq.",
    ),
)
ENGINE = section(
    "Engine",
    click.option(
        "--engine",
        type=click.Choice(["auto", "duckdb", "spark"]),
        default="auto",
        show_default=True,
        help="Who counts the points: hushgrid itself, DuckDB, or a Spark session.",
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
        help="Rough number of points, from public knowledge; with --user-column, of kept records. Only used to foresee "
        "errors.",
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
RECIPE = section(
    "Recipe",
    click.option(
        "--config",
        metavar="TOML",
        expose_value=False,
        shell_complete=complete_file,
        help="Take options from this file, by their long names, and POINTS as points. {period} in a text stands for "
        "--period. Options that you type win over the file.",
    ),
)
