"""A plan in words: tables of errors, and how to read them."""

import textwrap
from typing import TYPE_CHECKING

from hushgrid.release.cost import memory_in_words, time_in_words
from hushgrid.text import WIDTH, aligned

if TYPE_CHECKING:
    from hushgrid.planning.levels import LevelsPlan, SplitPlan
    from hushgrid.planning.plan import ExpectedError, MethodPlan, Plan

HEADER = ["method", "rectangle", "of domain", "points", "half below", "relative", "95 % below", "relative"]


def plan_in_words(made: "Plan") -> str:
    """The plan as text for people.

    It has cells, tables of errors, plain sentences, and what is assumed.
    """
    found = []
    if made.accuracy is not None:
        found = [f"An error below {rounded_percent(made.accuracy)} takes epsilon {float(made.epsilon):g}."]
    rows = [_row(row.method, error) for row in made.methods for error in row.errors]
    users = [] if made.max_per_user == 1 else [repr(made.bounds), textwrap.fill(made.bounds.sentence, WIDTH)]
    texts = [textwrap.fill(text, WIDTH) for text in (sentence(made), what_it_takes(made), assumption(made))]
    aim = [] if made.aim is None else [made.aim.words]
    tables = ["\n".join(map(_cells, made.methods)), aligned([HEADER, *rows], left=2)]
    return "\n\n".join([*found, *tables, *texts, *aim, *users])


def sentence(made: "Plan") -> str:
    """What to expect, in plain words."""
    error = made.yardstick
    holding = f"With about {made.points_about:,} points"
    if made.max_per_user > 1:
        holding += f", no more than {made.max_per_user:,} of them of one user,"
    return (
        f"{holding} and epsilon {float(made.epsilon):g}, a rectangle over {rounded_percent(error.area_share)} of the "
        f"domain, drawn around some point, would hold about {about(error.points)} points. Half of such counts "
        f"would be off by less than {rounded_percent(error.relative_typical_error)}, and 95 % of them by less than "
        f"{rounded_percent(error.relative_reach)}."
    )


def what_it_takes(made: "Plan") -> str:
    """Time and memory that publishing takes, by method."""
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


def levels_in_words(made: "LevelsPlan") -> str:
    """The plan for areas: a table of splits, and how to read it."""
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
        "the time. Where all of the budget goes to the finest level, coarser areas are the sums of their parts. "
        "These figures follow from the areas and the budget; no points were looked at."
    )
    texts = [how_to_read]
    if made.points_about is not None:
        each = [
            f"an area of level {level.name} holds {about(made.points_about / len(level.names))} and is off by up to "
            f"{rounded_percent(reach * len(level.names) / made.points_about)}"
            for level, reach in zip(made.levels, made.chosen.reaches, strict=True)
        ]
        kind = "shares given" if made.chosen.mark == "given" else "default shares"
        texts.append(f"Of about {made.points_about:,} points, on average and by the {kind}, {'; '.join(each)}.")
    return "\n\n".join([aligned([header, *rows]), *(textwrap.fill(text, WIDTH) for text in texts)])


def _shares(split: "SplitPlan", finest: str) -> str:
    """The shares as --level-shares takes them."""
    if 0 in split.shares:
        return f"{finest} alone"
    return ",".join(f"{float(share):.2g}" for share in split.shares)


def _half_width(reach: float) -> str:
    return f"{reach:.1f}" if reach < 10 else about(reach)
