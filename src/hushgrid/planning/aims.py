"""What an aim gains, and what it costs elsewhere."""

import math
import textwrap
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from hushgrid.answering.polygons import boxes_of
from hushgrid.arrays import Floats
from hushgrid.counting.counter import PointCounter
from hushgrid.counting.memory import ArrayPoints
from hushgrid.geometry.areas import AreaPartition
from hushgrid.geometry.domain import Domain
from hushgrid.methods.areas import Areas
from hushgrid.methods.staq import AimedQuadtree, Staq
from hushgrid.planning.ladder import LARGEST_POPULATION
from hushgrid.planning.population import uniform
from hushgrid.planning.rehearsal import (
    AREA_SHARES,
    PLACES,
    SMALLEST_ERROR,
    UNIT_SQUARE,
    Stage,
    points_in,
    rect_places,
    rehearsed,
    stage,
)
from hushgrid.privacy.bits import simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.release.aim import aim_warning, places_aimed_at, scale_of
from hushgrid.release.places import release_around
from hushgrid.synopsis.synopsis import Synopsis
from hushgrid.text import WIDTH, aligned

TRIES = 8  # to find room for a place
SEED = 1  # of the population, and of the noise
HEADER = ["rectangle", "of domain", "aimed", "staq", "aimed / staq"]


@dataclass(frozen=True, kw_only=True)
class TradedError:
    """Relative errors of two releases, on rectangles of one size.

    Parameters
    ----------
    rectangle : str
        ``"aimed at"``, ``"places"``, or a size as in `ExpectedError`.
    area_share : float
        Share of the domain that one covers.
    aimed, staq : float
        Error that half of the counts stay below, relative to the points in the rectangle.
    """

    rectangle: str
    area_share: float
    aimed: float
    staq: float


@dataclass(frozen=True, kw_only=True)
class AimPlan:
    """What a release with an aim would gain there, and cost elsewhere.

    Parameters
    ----------
    aim : str
        As it was asked for.
    scale : float
        The same as a share of the domain's sides; of places, the side of a square as large as a typical one.
    errors : tuple of TradedError
        At the scale first, then by size.
    advice : str, optional
        Why the aim is not worth it, if so.
    places : int
        How many places it is aimed at; none for a scale.
    """

    aim: str
    scale: float
    errors: tuple[TradedError, ...]
    advice: str | None
    places: int = 0

    @property
    def words(self) -> str:
        """The trade as a table, and a sentence."""
        rows = [
            [each.rectangle, f"{each.area_share:.2g}", f"{each.aimed:.1%}", f"{each.staq:.1%}", f"{_ratio(each):.2f}"]
            for each in self.errors
        ]
        table = aligned([HEADER, *rows], left=1)
        said = f"Half of the counts have a smaller relative error. Aimed at {self.aim}"
        squares = f", squares of {100 * self.scale:.2g} % of the sides."
        said += ": each is counted by itself, and where people are is made up." if self.places else squares
        texts = [said, *([f"{self.advice[0].upper()}{self.advice[1:]}"] if self.advice else [])]
        return "\n".join([table, *(textwrap.fill(text, WIDTH) for text in texts)])


def plan_aim(aim: Any, domain: Domain, *, points_about: int, rate: Fraction, filled: float) -> AimPlan:
    """Rehearse an aimed release and STAQ on the same made-up people.

    Places are moved to where made-up people are, each as large as it is: nobody knows how many are in the true ones.

    Parameters
    ----------
    rate : Fraction
        Epsilon for counts of one record.

    Examples
    --------
    >>> unit = Domain(west=0, south=0, east=1, north=1)
    >>> made = plan_aim("1%", unit, points_about=20_000, rate=Fraction(1, 5), filled=0.2)
    >>> made.errors[0].aimed < made.errors[0].staq, made.errors[-1].aimed > made.errors[-1].staq
    (True, True)
    """
    people = min(points_about, LARGEST_POPULATION)
    on, signal = stage(people, filled, SEED), points_about * rate
    places = places_aimed_at(aim)
    if places is None:
        scale = scale_of(aim, domain)
        asked = rect_places(on.points, scale**2, PLACES, bits=simulation_rng(SEED))
        published = rehearsed(AimedQuadtree(scale=scale), on, signal / people)
        about: dict[str, Any] = {"aim": aim, "scale": scale, "advice": aim_warning(AimedQuadtree.name, float(signal))}
    else:
        areas = places.public_partition(domain)
        asked = moved_places(areas, on)
        published = rehearsed_around(asked, on, signal / people)
        scale = float(np.sqrt(np.median(np.prod(asked[:, 2:] - asked[:, :2], axis=1))))
        several = "1 place" if areas.cells == 1 else f"{areas.cells:,} places"
        named = str(aim) if isinstance(aim, str | Path) else several
        advice = aim_warning(Staq.name, float(signal), areas.cells)
        about = {"aim": named, "scale": scale, "advice": advice, "places": areas.cells}
    rects, held = [asked, *on.rects], [points_in(asked, on.points), *on.held]

    def errors(synopsis: Synopsis) -> list[float]:
        found = []
        for some, true_counts in zip(rects, held, strict=True):
            missed = np.maximum(np.abs(synopsis.count(some) - true_counts), SMALLEST_ERROR)
            found.append(float(np.median(missed / np.maximum(true_counts, 1))))
        return found

    sizes = {"places" if about.get("places") else "aimed at": scale**2, **AREA_SHARES}
    figures = zip(sizes.items(), errors(published), errors(rehearsed(Staq(), on, signal / people)), strict=True)
    traded = (
        TradedError(rectangle=name, area_share=share, aimed=ours, staq=theirs)
        for (name, share), ours, theirs in figures
    )
    return AimPlan(errors=tuple(traded), **about)


def moved_places(areas: AreaPartition, on: Stage) -> Floats:
    """Squares as large as places, around made-up people.

    None lies over another, and a place that finds no room is left out. Shape (n, 4).
    """
    domain, found = areas.domain, np.empty((0, 4))
    sides = np.sqrt(areas.sizes / (domain.width * domain.height))
    chosen = (uniform(simulation_rng(SEED), TRIES * areas.cells) * len(on.points)).astype(np.int64)
    turn = iter(on.points[chosen])
    for side in np.sort(sides)[::-1].tolist():
        for centre in islice(turn, TRIES):
            low = np.clip(centre - side / 2, 0, 1 - side)
            square = np.concatenate([low, low + side])
            if not ((square[:2] < found[:, 2:]) & (found[:, :2] < square[2:])).all(axis=1).any():
                found = np.vstack([found, square])
                break
    return found


def rehearsed_around(squares: Floats, on: Stage, epsilon: Fraction) -> Synopsis:
    """What a release aimed at these places publishes of made-up people."""
    counter = PointCounter(UNIT_SQUARE, ArrayPoints(on.points))
    budget = Budget(epsilon, bits=simulation_rng(on.seed), public_size=len(on.points))
    return release_around(Staq(), Areas(boxes_of(squares, UNIT_SQUARE)), counter, budget)


def _ratio(error: TradedError) -> float:
    return error.aimed / error.staq if error.staq > 0 else math.inf
