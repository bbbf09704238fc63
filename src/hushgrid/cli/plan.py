"""``hushgrid plan``: what to expect before touching any data."""

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hushgrid.cli.arguments import AreasAsked, chosen_method
from hushgrid.cli.parameters import COLUMNS, example, to_domain, to_texts
from hushgrid.cli.text import as_json
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.release.auto import AUTO
from hushgrid.text import WIDTH, aligned

if TYPE_CHECKING:
    from hushgrid.planning.levels import LevelsPlan, SplitPlan
    from hushgrid.planning.plan import ExpectedError, MethodPlan, Plan

HEADER = ["method", "rectangle", "of domain", "points", "half below", "relative", "95 % below", "relative"]
USERS_HEADER = ["at most a user", "half below", "relative", "95 % below", "relative"]


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
    callback=to_domain,
    metavar="W,S,E,N",
    help="Public rectangle to cover: west, south, east, north. With --areas, it may be left out.",
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
@click.option("--json", "want_json", is_flag=True, help="Write JSON.")
def plan_command(
    domain: Domain | None,
    points_about: int | None,
    epsilon: str | None,
    accuracy: float | None,
    max_per_user: int,
    size_share: str,
    filled: float,
    areas_file: Path | None,
    area_name: str | None,
    levels: tuple[str, ...] | None,
    level_shares: tuple[str, ...] | None,
    want_json: bool,
) -> None:
    """Say what to expect of a release, before touching any data.

    The plan tells how many cells there would be, about how long publishing them would take, and how far off the counts
    of small, medium and large rectangles would be. It needs public figures alone, because it publishes a made-up
    population.

    With --areas it tells how far off the counts of each level would be, by how the budget is split among levels.
    """
    from hushgrid.planning.plan import epsilon_for
    from hushgrid.planning.plan import plan as make_plan

    asked = AreasAsked(file=areas_file, name=area_name, levels=levels or (), shares=level_shares)
    asked.check()
    if areas_file is not None and accuracy is not None:
        msg = "--accuracy is about rectangles. With --areas, give --epsilon and read what each level gets."
        raise click.UsageError(msg)
    if (epsilon is None) == (accuracy is None):
        msg = "Give either --epsilon or --accuracy."
        raise click.UsageError(msg)
    if areas_file is not None:
        assert epsilon is not None
        on_areas = _on_areas(asked, domain, epsilon, max_per_user)
        click.echo(as_json(levels_as_values(on_areas)) if want_json else levels_in_words(on_areas, points_about))
        return
    for option, given in (("--domain", domain), ("--points-about", points_about)):
        if given is None:
            raise click.MissingParameter(param_type="option", param_hint=f"'{option}'")
    assert domain is not None
    figures: dict[str, Any] = {
        "points_about": points_about,
        "max_per_user": max_per_user,
        "size_share": size_share,
        "filled": filled,
    }
    budget = epsilon if accuracy is None else epsilon_for(domain, accuracy=accuracy, **figures)
    assert budget is not None
    made = make_plan(domain, epsilon=budget, **figures)
    click.echo(as_json(as_values(made)) if want_json else in_words(made, accuracy=accuracy))


def _on_areas(asked: AreasAsked, domain: Domain | None, epsilon: str, max_per_user: int) -> "LevelsPlan":
    """The plan for counts on areas."""
    from hushgrid.methods.areas import Areas
    from hushgrid.planning.levels import plan_levels

    method = chosen_method(AUTO, asked, None)
    assert isinstance(method, Areas)
    areas = method.public_partition(domain or method.domain())
    shares = None if method.shares is None else method.shares_of(areas)
    return plan_levels(areas, epsilon=epsilon, max_per_user=max_per_user, shares=shares)


def levels_in_words(made: "LevelsPlan", points_about: int | None) -> str:
    """The plan for areas as text for people: a table of splits, and how to read it."""
    header = ["--level-shares", *(f"{len(level.names):,} of {level.name}" for level in made.levels), "all together", ""]
    rows = [
        [
            _shares(split, made.levels[-1].name),
            *(f"± {_half_width(reach)}" for reach in (*split.reaches, split.total_reach)),
            split.mark,
        ]
        for split in made.splits
    ]
    kept = f", at most {made.max_per_user:,} records of a user kept" if made.max_per_user > 1 else ""
    how_to_read = (
        f"At epsilon {float(made.epsilon):g}{kept}, the count of a typical area is off by no more than this 95 % of "
        "the time. All of the budget on the finest level leaves coarser areas to be the sums of their parts. This "
        "follows from the areas and the budget; no points were looked at."
    )
    texts = [how_to_read]
    if points_about is not None:
        each = [
            f"an area of level {level.name} holds {about(points_about / len(level.names))} and is off by up to "
            f"{rounded_percent(reach * len(level.names) / points_about)}"
            for level, reach in zip(made.levels, made.chosen.reaches, strict=True)
        ]
        kind = "shares given" if made.chosen.mark == "given" else "default shares"
        texts.append(f"Of about {points_about:,} points, on average and by the {kind}, {'; '.join(each)}.")
    return "\n\n".join([aligned([header, *rows]), *(textwrap.fill(text, WIDTH) for text in texts)])


def levels_as_values(made: "LevelsPlan") -> dict[str, Any]:
    """The plan for areas as values for JSON."""
    names = [level.name for level in made.levels]
    return {
        "epsilon": float(made.epsilon),
        "exact_epsilon": str(made.epsilon),
        "max_per_user": made.max_per_user,
        "levels": [{"level": level.name, "areas": len(level.names)} for level in made.levels],
        "splits": [
            {
                "mark": split.mark,
                "shares": dict(zip(names, map(float, split.shares), strict=True)),
                "reaches": dict(zip(names, split.reaches, strict=True)),
                "total_reach": split.total_reach,
            }
            for split in made.splits
        ],
    }


def _shares(split: "SplitPlan", finest: str) -> str:
    """The shares as --level-shares takes them."""
    if 0 in split.shares:
        return f"{finest} alone"
    return ",".join(f"{float(share):.2g}" for share in split.shares)


def _half_width(reach: float) -> str:
    return f"{reach:.1f}" if reach < 10 else about(reach)


def in_words(made: "Plan", *, accuracy: float | None) -> str:
    """The plan as text for people.

    It has cells, tables of errors, plain sentences, and what is assumed.
    """
    found = []
    if accuracy is not None:
        found = [f"An error below {rounded_percent(accuracy)} takes epsilon {float(made.epsilon):g}."]
    rows = [_row(row.method, error) for row in made.methods for error in row.errors]
    users = [] if made.max_per_user == 1 else [_users_table(made)]
    texts = [textwrap.fill(text, WIDTH) for text in (sentence(made), what_it_takes(made), assumption(made))]
    return "\n\n".join([*found, "\n".join(map(_cells, made.methods)), aligned([HEADER, *rows], left=2), *users, *texts])


def sentence(made: "Plan") -> str:
    """What to expect, in plain words."""
    error = made.yardstick
    holding = f"With about {made.points_about:,} points"
    if made.max_per_user > 1:
        holding += f", no more than {made.max_per_user:,} of them of one user,"
    expected = (
        f"{holding} and epsilon {float(made.epsilon):g}, a rectangle over {rounded_percent(error.area_share)} of the "
        f"domain, drawn around some point, would hold about {about(error.points)} points. Half of such counts "
        f"would be off by less than {rounded_percent(error.relative_typical_error)}, and 95 % of them by less than "
        f"{rounded_percent(error.relative_reach)}."
    )
    return expected if made.max_per_user == 1 else f"{expected} {_price(made)}"


def what_it_takes(made: "Plan") -> str:
    """Time and memory that publishing takes, by method."""
    from hushgrid.release.cost import memory_in_words, time_in_words

    each = (f"{time_in_words(row.seconds)} and {memory_in_words(row.memory)} by {row.method}" for row in made.methods)
    return f"Publishing would take {', '.join(each)}."


def assumption(made: "Plan") -> str:
    """What the plan assumes about the points."""
    return (
        f"Assumed: a made-up population in clumps of all sizes, 95 % of it in {rounded_percent(made.filled)} of the "
        "domain (--filled). On real data, errors were mostly between half and twice those planned. Where points pile "
        "up on few places, as check-ins do, give a smaller --filled. In rectangles with few points, relative errors "
        "are larger."
    )


def as_values(made: "Plan") -> dict[str, Any]:
    """The plan as values for JSON."""
    from hushgrid.planning.plan import cost_of_users

    return {
        "domain": {**dict(zip(COLUMNS, made.domain.bounds, strict=True)), "crs": made.domain.crs},
        "points_about": made.points_about,
        "epsilon": float(made.epsilon),
        "exact_epsilon": str(made.epsilon),
        "max_per_user": made.max_per_user,
        "size_share": float(made.size_share),
        "filled": made.filled,
        "methods": [asdict(row) for row in made.methods],
        "cost_of_users": [{"max_per_user": bound, **asdict(error)} for bound, error in cost_of_users(made).items()],
        "sentence": sentence(made),
        "what_it_takes": what_it_takes(made),
        "assumption": assumption(made),
    }


def rounded_percent(share: float) -> str:
    """Write a share in percent, with two significant digits.

    From 10 % on, it is written in whole per cents.

    Examples
    --------
    >>> rounded_percent(0.00123), rounded_percent(0.5), rounded_percent(12.345)
    ('0.12 %', '50 %', '1,234 %')
    """
    number = 100 * share
    return f"{number:,.0f} %" if number >= 10 else f"{number:.2g} %"


def about(number: float) -> str:
    """Write a number of points with two significant digits.

    Examples
    --------
    >>> about(30308.2), about(7.4), about(0.2)
    ('30,000', '7', '0')
    """
    return f"{float(f'{number:.2g}'):,.0f}"


def _price(made: "Plan") -> str:
    """What protecting whole users costs, in one sentence."""
    from hushgrid.planning.plan import cost_of_users

    alone = rounded_percent(cost_of_users(made)[1].relative_reach)
    return (
        f"Protecting up to {made.max_per_user:,} points of a user together leaves 1/{made.max_per_user:,} of epsilon "
        f"for each: with one point a user the last figure would be {alone}."
    )


def _users_table(made: "Plan") -> str:
    """Errors by the number of points per user."""
    from hushgrid.planning.plan import cost_of_users

    rows = [[f"{bound:,}", *_errors(error)] for bound, error in cost_of_users(made).items()]
    return "By staq, medium rectangles, if as many points were kept:\n" + aligned([USERS_HEADER, *rows])


def _cells(row: "MethodPlan") -> str:
    sides = f"{row.cell_width:.2g} x {row.cell_height:.2g}"
    if row.cell_kilometres is not None:
        sides += " degrees, {:.2g} x {:.2g} km".format(*row.cell_kilometres)
    return f"{row.method}: about {about(row.cells)} cells; that of a typical point is {sides}"


def _row(method: str, error: "ExpectedError") -> list[str]:
    return [method, error.rectangle, rounded_percent(error.area_share), about(error.points), *_errors(error)]


def _errors(error: "ExpectedError") -> list[str]:
    return [
        about(error.typical_error),
        rounded_percent(error.relative_typical_error),
        about(error.reach),
        rounded_percent(error.relative_reach),
    ]
