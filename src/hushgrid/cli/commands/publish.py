"""``hushgrid publish``: points in, a release out."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hushgrid.cli.arguments import (
    AreasAsked,
    EngineChoice,
    SlicesAsked,
    chosen_domain,
    chosen_method,
    points_address,
    refuse_as_values,
    refuse_same,
)
from hushgrid.cli.commands.check import confirm_noise, dry_run
from hushgrid.cli.commands.describe import suggest, summarise
from hushgrid.cli.commands.manifest import manifest_paths, write_manifest_files
from hushgrid.cli.files import check_release_output, on_disk, progress_bar
from hushgrid.cli.parameters import complete_file, example
from hushgrid.cli.publish_options import (
    CHECK,
    ENGINE,
    LEDGER,
    METHOD,
    OUTPUT,
    POINTS,
    PRIVACY,
    RECIPE,
    SLICES,
    Sections,
)
from hushgrid.cli.text import note, warn
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import LONGITUDE_LATITUDE

if TYPE_CHECKING:
    from hushgrid.counting.engine.address import Address
    from hushgrid.release.delivery import Delivery
    from hushgrid.slices.slices import Slices
    from hushgrid.synopsis.synopsis import Synopsis


@click.command(
    "publish",
    cls=Sections,
    epilog=example("publish trips.parquet --domain -74.26,40.48,-73.70,40.92 --epsilon 1 -o trips.dp.parquet"),
)
@click.argument("points", shell_complete=complete_file)
@POINTS
@PRIVACY
@METHOD
@SLICES
@LEDGER
@ENGINE
@CHECK
@OUTPUT
@RECIPE
def publish_command(
    points: str,
    bounds: str | None,
    domain_crs: str,
    method: str,
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
    **asked: Any,  # options of areas and slices, and arguments of `hushgrid.publish` by their names there
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

    With --by or --time there are many maps in one release, such as one for each kind or hour, for one budget; with
    both, one for each pair. They are called slices. A record lies in one slice at most. The list of slices is public,
    and every slice is released, empty or not.

    With --config the options come from a file, so that next month takes the same ones: see "Publish every month" in the
    documentation.

    With --check nothing is published. The command says what the columns are taken for, what would be charged and
    promised, and what to expect.
    """
    from hushgrid.counting.engine.address import Address
    from hushgrid.release.advice import epsilon_warning
    from hushgrid.release.delivery import Charge, Delivery
    from hushgrid.release.publish import deliver
    from hushgrid.release.request import ReleaseRequest

    if look and not check:
        msg = "--look shows rows beside a dry run. Give --check as well, or leave it out."
        raise ArgumentError(msg)
    slices_asked, areas_asked = SlicesAsked.taken_from(asked), AreasAsked.taken_from(asked)
    place = points_address(points, engine, spark_conf)
    refuse_as_values(place, slices_asked.values)
    by, chosen = slices_asked.chosen(), chosen_method(method, areas_asked, distinct_users)
    crs = asked.pop("crs")
    domain = chosen_domain(bounds, domain_crs, chosen, crs_of_points=crs)
    charge_of = {name: asked.pop(name) for name in ("ledger", "dataset", "new_release", "resume", "series")}
    arguments = {
        **asked,
        **slices_asked.in_period,
        "domain": domain,
        "method": chosen,
        "crs": crs or LONGITUDE_LATITUDE,
        "distinct": distinct_users is not None,
        **({} if by is None else {"by": by}),
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
        found = deliver(request, source, charge=charge, delivery=delivery)
    click.echo(output)
    if crs is None:
        note("Points were taken as longitude and latitude. If they are in another system, name it: --crs EPSG:n")
    if manifest:
        write_manifest_files(found, output, overwrite=overwrite)
    _tell(found, delivery, output)


def _tell(found: "Synopsis | Slices", delivery: "Delivery", output: Path) -> None:
    """Say what was published, what is odd about it, and what comes next."""
    from hushgrid.release.advice import domain_warning, total_warning
    from hushgrid.release.aim import released_aim_warning
    from hushgrid.synopsis.synopsis import Synopsis

    summarise(found)
    suggest(found, output)
    whole = found if isinstance(found, Synopsis) else found.total
    if whole is not None:
        delivery.warn_of(domain_warning, whole)
    delivery.warn_of(total_warning, found)
    if isinstance(found, Synopsis):
        delivery.warn_of(released_aim_warning, found)


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
