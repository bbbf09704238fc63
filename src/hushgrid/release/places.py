"""A release aimed at places, each counted by itself."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hushgrid.counting.counter import Counter, PointCounter
from hushgrid.errors import ArgumentError
from hushgrid.geometry.domain import Domain
from hushgrid.methods.areas import Areas
from hushgrid.methods.method import Method
from hushgrid.privacy.budget import Budget
from hushgrid.slices.by import By
from hushgrid.synopsis.places import CountedPlaces
from hushgrid.synopsis.synopsis import Synopsis

MOST_PLACES = 2**14  # beyond, the noise of all of them would drown a total, and areas are the better method


def check_places(places: Areas, domain: Domain, *, given: Mapping[str, Any], by: By | None) -> None:
    """Refuse places that cannot be counted, alone or with other options."""
    areas = places.public_partition(domain)
    if areas.cells > MOST_PLACES:
        msg = f"{areas.cells:,} places are over the limit of {MOST_PLACES:,}. Give fewer, or publish on areas: "
        msg += "method=hg.Areas(polygons)."
        raise ArgumentError(msg)
    asked = {
        "by": by,
        "prior": None if str(given["prior"]) == "none" else given["prior"],
        "estimate='all-records'": given["estimate"] == "all-records",
    }
    for name, value in asked.items():
        if value:
            msg = f"an aim at places does not go together with {name}. Leave one of them out."
            raise ArgumentError(msg)


def note_of(places: int) -> str:
    """What the release is for, and what that costs elsewhere."""
    counted = "1 place was counted by itself" if places == 1 else f"{places:,} places were counted by themselves"
    return f"{counted}, with one noise each, so that sums over many of them have that of all"


def release_around(method: Method, places: Areas, counter: Counter, budget: Budget) -> Synopsis:
    """Count points in places, and publish all others by a method.

    Privacy
    -------
    Which points lie in a place follows from each point and the public places. Those in places are counted under a
    budget of their own, all others under the one given: no point under both, so that the two compose in parallel and
    cost what one does. Places do not overlap, so that a record changes one of their counts, by one.
    """
    assert isinstance(counter, PointCounter)  # engines were refused
    areas = places.public_partition(counter.domain)
    apart = budget.apart()
    values = apart.measure(counter.count(areas), Fraction(1), purpose="places")
    around = method.release(counter.outside(areas), budget)
    recorded = replace(around.method, notes=(note_of(areas.cells), *around.method.notes))
    return replace(around, method=recorded).with_places(CountedPlaces(areas=areas, values=values))
