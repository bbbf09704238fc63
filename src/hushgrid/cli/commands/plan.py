"""``hushgrid plan``: what to expect, before touching any data."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from hushgrid.cli.arguments import AreasAsked, chosen_method
from hushgrid.cli.files import check_output
from hushgrid.cli.parameters import example, to_texts
from hushgrid.cli.text import as_json, note
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import LONGITUDE_LATITUDE, Domain
from hushgrid.release.auto import AUTO
from hushgrid.slices.axes import MOST_SLICES

PICTURES = (".png", ".svg", ".pdf")


def to_accuracy(_context: click.Context, _parameter: click.Parameter, text: str | None) -> float | None:
    """Parse a share written as ``5%`` or ``0.05``."""
    if text is None:
        return None
    number, per_cent, rest = text.partition("%")
    try:
        accuracy = float(number) / (100 if per_cent else 1)
    except ValueError:
        accuracy = 0
    if rest.strip() or not 0 < accuracy < 1:
        msg = f"accuracy must lie strictly between 0 and 100 %, written as 5% or 0.05, got {text!r}."
        raise ArgumentError(msg)
    return accuracy


@click.command(
    "plan",
    epilog=example(
        "plan --domain -74.26,40.48,-73.70,40.92 --points-about 1000000 --epsilon 1",
        "plan --domain -74.26,40.48,-73.70,40.92 --points-about 1000000 --accuracy 5%",
        "plan --domain -74.26,40.48,-73.70,40.92 --points-about 1000000 --epsilon 1 --max-per-user 10",
        "plan --areas counties.geojson --levels state,county --epsilon 1",
    ),
)
@click.option(
    "--domain",
    "bounds",
    metavar="W,S,E,N",
    help="Public rectangle to cover: west, south, east, north. With --areas, it may be left out.",
)
@click.option(
    "--domain-crs",
    default=LONGITUDE_LATITUDE,
    show_default=True,
    metavar="EPSG:n",
    help="Reference system of the domain.",
)
@click.option(
    "--points-about",
    type=int,
    metavar="N",
    help="Rough number of points, from public knowledge. With --areas, it may be left out.",
)
@click.option("--epsilon", metavar="E", help="Privacy budget. Smaller is more private.")
@click.option(
    "--accuracy",
    callback=to_accuracy,
    metavar="SHARE",
    help="Find the smallest epsilon for this error instead, such as 5%: counts over 1 % of the domain by staq stay "
    "below it 95 % of the time.",
)
@click.option(
    "--max-per-user",
    type=int,
    default=1,
    show_default=True,
    metavar="K",
    help="Most points kept of one user, protected together. Use 1 to protect single records.",
)
@click.option(
    "--records-per-user",
    callback=to_texts,
    metavar="N,N",
    show_default="5,40",
    help="Two numbers from public knowledge: half of the users have at most the first number of records, and nine in "
    "ten at most the second. With --max-per-user.",
)
@click.option(
    "--estimate",
    type=click.Choice(["kept-records", "all-records"]),
    default="kept-records",
    show_default=True,
    help="What publish would count. An estimate of all records leaves less of the budget for details.",
)
@click.option(
    "--curve",
    type=click.Path(path_type=Path),
    metavar="PNG",
    help="Draw what each K loses against its noise: PNG, SVG or PDF.",
)
@click.option(
    "--size-share",
    default="0.01",
    show_default=True,
    metavar="SHARE",
    help="Share of the budget for the noisy number of points.",
)
@click.option(
    "--filled",
    default=0.2,
    show_default=True,
    metavar="SHARE",
    help="Share of the domain that holds 95 % of the points. Smaller means clumpier.",
)
@click.option(
    "--areas",
    "areas_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Plan for counts on these areas instead, as publish --areas takes them.",
)
@click.option("--area-name", metavar="FIELD", show_default="name or id", help="Property that names each area.")
@click.option("--levels", callback=to_texts, metavar="FIELD,...", help="Levels of areas, as publish --levels has them.")
@click.option(
    "--level-shares", callback=to_texts, metavar="S,...", help="A split of the budget to show beside the others."
)
@click.option(
    "--aim",
    metavar="PLACES|LENGTH|SHARE%",
    help="Show what a release with publish --aim gains at these places or this scale, and what it costs elsewhere.",
)
@click.option(
    "--by",
    "slices",
    type=click.IntRange(1, MOST_SLICES),
    metavar="N",
    help="Plan for one of N slices of the same size, as publish --by and --time make them.",
)
@click.option("--json", "want_json", is_flag=True, help="Write JSON.")
def plan_command(
    bounds: str | None,
    domain_crs: str,
    points_about: int | None,
    epsilon: str | None,
    accuracy: float | None,
    max_per_user: int,
    records_per_user: tuple[str, ...] | None,
    estimate: str,
    curve: Path | None,
    size_share: str,
    filled: float,
    aim: str | None,
    slices: int | None,
    want_json: bool,
    **areas: Any,  # the options of `AreasAsked`
) -> None:
    """Say what to expect of a release, before touching any data.

    The plan tells how many cells there would be, about how long publishing them would take, and how far off the counts
    of small, medium and large rectangles would be. It needs public figures alone, because it publishes a made-up
    population.

    With --max-per-user it weighs what other bounds on the records of a user would lose against the noise they take.
    With --areas it tells how far off the counts of each level would be, by how the budget is split among levels. With
    --by the figures are those of one slice.
    """
    from hushgrid.planning.plan import Plan, plan
    from hushgrid.planning.users import draw_bounds

    asked = AreasAsked.taken_from(areas)
    asked.check()
    if asked.file is not None:
        _refuse_beside_areas(accuracy, curve)
    if (epsilon is None) == (accuracy is None):
        msg = "Give either --epsilon or --accuracy."
        raise click.UsageError(msg)
    if curve is not None:
        check_output(curve, overwrite=False, endings=PICTURES, name="curve")
    domain = None if bounds is None else Domain.parse(bounds, crs=domain_crs)
    public: dict[str, Any] = {
        "domain": domain,
        "points_about": points_about,
        "epsilon": epsilon,
        "max_per_user": max_per_user,
        "records_per_user": records_per_user,
        "estimate": estimate,
        "aim": aim,
    }
    if asked.file is None:
        for option, given in (("--domain", domain), ("--points-about", points_about)):
            if given is None:
                raise click.MissingParameter(param_type="option", param_hint=f"'{option}'")
        public |= {"accuracy": accuracy, "size_share": size_share, "filled": filled}
    else:
        public["areas"] = chosen_method(AUTO, asked, None)
    if slices is not None:
        public |= _one_slice(epsilon, points_about, slices, on_areas=asked.file is not None)
    made = plan(**public)
    if curve is not None and isinstance(made, Plan):
        draw_bounds(made.bounds, curve)
    click.echo(as_json(made.to_dict()) if want_json else made)
    if slices is not None:
        note(
            f"These are figures of one of {slices:,} slices. All of them together cost the same epsilon once. STAQ "
            "spends the rest of it on their total; other methods spend it on the slices, and do a little better."
        )


def _refuse_beside_areas(accuracy: float | None, curve: Path | None) -> None:
    """Refuse options that say nothing of areas."""
    if accuracy is not None:
        msg = "--accuracy is about rectangles. With --areas, give --epsilon and read what each level gets."
        raise click.UsageError(msg)
    if curve is not None:
        msg = "--curve draws what a bound on users costs counts of rectangles. Leave it out, or --areas."
        raise click.UsageError(msg)


def _one_slice(
    epsilon: str | None, points_about: int | None, slices: int, *, on_areas: bool
) -> dict[str, Fraction | int]:
    """The points of one slice, and the budget that the total leaves it."""
    from hushgrid.privacy.exact import exact_epsilon
    from hushgrid.release.sliced import share_of_total

    if epsilon is None or points_about is None or on_areas:
        msg = "--by is about slices of rectangles. Give --epsilon and --points-about with it, and no --areas."
        raise click.UsageError(msg)
    return {
        "epsilon": exact_epsilon(epsilon) * (1 - share_of_total(slices)),
        "points_about": round(float(f"{max(1, points_about / slices):.2g}")),  # about, so two digits
    }
