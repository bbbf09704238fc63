"""``hushgrid plan``: what to expect of a release, before any data are touched."""

import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from hushgrid.cli.output import WIDTH, aligned, as_json, whole
from hushgrid.cli.parameters import example, to_domain
from hushgrid.cli.rectangles import COLUMNS
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain

if TYPE_CHECKING:
    from hushgrid.plan import ExpectedError, MethodPlan, Plan

HEADER = ["method", "rectangle", "of domain", "points", "std error", "relative", "95 % below", "relative"]
LEFT_OUT = "Other methods are not planned for; on real data staq usually does better than ag."


def to_accuracy(_context: click.Context, _parameter: click.Parameter, text: str | None) -> float | None:
    """The share written as ``5%`` or ``0.05``."""
    if text is None:
        return None
    number, per_cent, rest = text.partition("%")
    try:
        accuracy = float(number) / (100 if per_cent else 1)
    except ValueError:
        accuracy = 0
    if rest.strip() or not 0 < accuracy < 1:
        msg = f"accuracy must lie strictly between 0 and 100 %, written as 5% or 0.05; got {text!r}."
        raise ArgumentError(msg)
    return accuracy


@click.command(
    epilog=example(
        "plan --domain -74.26,40.48,-73.70,40.92 --points-about 1000000 --epsilon 1",
        "plan --domain -74.26,40.48,-73.70,40.92 --points-about 1000000 --accuracy 5%",
    )
)
@click.option(
    "--domain",
    callback=to_domain,
    required=True,
    metavar="W,S,E,N",
    help="The public rectangle to cover: west, south, east, north.",
)
@click.option("--points-about", type=int, required=True, metavar="N", help="About how many points there are.")
@click.option("--epsilon", metavar="E", help="The privacy budget; smaller means more private.")
@click.option(
    "--accuracy",
    callback=to_accuracy,
    metavar="SHARE",
    help="In place of epsilon: the error, such as 5%, that a count over 1 % of the domain should stay below 95 % of "
    "the time with ag. The smallest epsilon that gives it is found.",
)
@click.option("--size-share", default="0.01", show_default=True, help="Share of the budget for the noisy size.")
@click.option("--filled", default=0.2, show_default=True, help="Share of the domain that holds the points.")
@click.option("--json", "want_json", is_flag=True, help="Write JSON.")
def plan(
    domain: Domain,
    points_about: int,
    epsilon: str | None,
    accuracy: float | None,
    size_share: str,
    filled: float,
    want_json: bool,
) -> None:
    """Say what to expect of a release, before touching any data.

    Cells, and how far off the counts of small, medium and large rectangles would be, from public figures alone.
    """
    from hushgrid.plan import epsilon_for
    from hushgrid.plan import plan as make_plan

    if (epsilon is None) == (accuracy is None):
        msg = "Give either --epsilon or the wanted --accuracy."
        raise click.UsageError(msg)
    figures: dict[str, Any] = {"points_about": points_about, "size_share": size_share, "filled": filled}
    budget = epsilon if accuracy is None else epsilon_for(domain, accuracy=accuracy, **figures)
    assert budget is not None
    made = make_plan(domain, epsilon=budget, **figures)
    click.echo(as_json(as_values(made)) if want_json else in_words(made, accuracy=accuracy))


def in_words(made: "Plan", *, accuracy: float | None) -> str:
    """The plan for people: cells, a table of errors, a plain sentence, and what is assumed."""
    rows = [_row(row.method, error) for row in made.methods for error in row.errors]
    found = [] if accuracy is None else [f"An error below {percent(accuracy)} takes epsilon {float(made.epsilon):g}."]
    texts = (sentence(made), assumption(made), LEFT_OUT)
    return "\n\n".join(
        [
            *found,
            "\n".join(map(_cells, made.methods)),
            aligned([HEADER, *rows], left=2),
            *(textwrap.fill(text, WIDTH) for text in texts),
        ]
    )


def sentence(made: "Plan") -> str:
    """What to expect, in one sentence for everyone."""
    error = made.yardstick
    return (
        f"With about {made.points_about:,} points and epsilon {float(made.epsilon):g}, the count of a rectangle over "
        f"{percent(error.area_share)} of the domain that holds about {whole(error.points)} points would be off by "
        f"about {percent(error.relative_std_error)} (95 % of the time by less than {percent(error.relative_reach)})."
    )


def assumption(made: "Plan") -> str:
    """The model, in one honest sentence."""
    return (
        f"Assumed: the points fill {percent(made.filled)} of the domain evenly and the rectangles lie there; a cell of "
        "m points of which a rectangle covers a share w adds w (1 - w)(m + 0.3 m^2) to the variance; the noise has its "
        "exact variance. Where points are sparser, relative errors are larger."
    )


def as_values(made: "Plan") -> dict[str, Any]:
    """The plan as plain values for JSON."""
    return {
        "domain": {**dict(zip(COLUMNS, made.domain.bounds, strict=True)), "crs": made.domain.crs},
        "points_about": made.points_about,
        "epsilon": float(made.epsilon),
        "exact_epsilon": str(made.epsilon),
        "size_share": float(made.size_share),
        "filled": made.filled,
        "methods": [{**asdict(row), "errors": [_error_values(error) for error in row.errors]} for row in made.methods],
        "sentence": sentence(made),
        "assumption": assumption(made),
    }


def percent(share: float) -> str:
    """A share in percent, to two significant digits or to whole ones.

    Examples
    --------
    >>> percent(0.00123), percent(0.5), percent(12.345)
    ('0.12 %', '50 %', '1,234 %')
    """
    number = 100 * share
    return f"{number:,.0f} %" if number >= 10 else f"{number:.2g} %"


def _error_values(error: "ExpectedError") -> dict[str, Any]:
    derived = ("std_error", "reach", "relative_std_error", "relative_reach")
    return {**asdict(error), **{name: getattr(error, name) for name in derived}}


def _cells(row: "MethodPlan") -> str:
    sides = f"{row.cell_width:.2g} x {row.cell_height:.2g}"
    if row.cell_kilometres is not None:
        sides += " degrees, {:.2g} x {:.2g} km".format(*row.cell_kilometres)
    return f"{row.method}: {row.cells:,} cells; where the points are, one is {sides}"


def _row(method: str, error: "ExpectedError") -> list[str]:
    return [
        method,
        error.rectangle,
        percent(error.area_share),
        whole(error.points),
        whole(error.std_error),
        percent(error.relative_std_error),
        whole(error.reach),
        percent(error.relative_reach),
    ]
