"""A series as the server has it: its page and its answers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hushgrid.arrays import Floats
from hushgrid.change.series import OverTime, Series
from hushgrid.geometry.domain import BOUNDS
from hushgrid.synopsis.facts import Facts, caveats_of
from hushgrid.web.figures import CONFIDENCE
from hushgrid.web.questions import BODY_TOO_LARGE, LARGEST_BATCH, Question, RefusalError
from hushgrid.web.series.page import series_page
from hushgrid.web.series.places import PlacesOverTime

NUMBERS = ("estimate", "low", "high")
MOST_ANSWERS = 10 * LARGEST_BATCH  # periods times rectangles of a question


@dataclass(frozen=True, kw_only=True, eq=False)
class ServedSeries:
    """A series on the server: its places and its title."""

    title: str
    series: Series
    levels: Sequence[PlacesOverTime]

    @property
    def label(self) -> str:
        """What links to its page say."""
        return f"All {len(self.series):,} together"

    def page(self, releases: Mapping[str, str]) -> str:
        """Its page, with links to the releases."""
        return series_page(self.series, self.levels, title=self.title, releases=releases)

    @cached_property
    def places(self) -> dict[str, Any]:
        """The counts of all places over time."""
        levels = [{"level": level.noun, "places": _records(level)} for level in self.levels]
        return {**self._meaning(CONFIDENCE), "levels": levels}

    def answers(self, question: Question) -> dict[str, Any]:
        """The counts of rectangles over time, in the order asked."""
        if len(question.rects) * len(self.series.periods) > MOST_ANSWERS:
            most = MOST_ANSWERS // len(self.series.periods)
            msg = f"at most {most:,} rectangles of {len(self.series.periods):,} periods fit in one request; ask in "
            msg += "several."
            raise RefusalError(BODY_TOO_LARGE, msg)
        counts = self.series.answer(question.rects, confidence=question.confidence)
        return {**self._meaning(question.confidence), "answers": _with_bounds(question.rects, counts)}

    def _meaning(self, confidence: float) -> dict[str, Any]:
        facts = Facts.of(self.series.last)
        return {
            "periods": list(self.series.periods),
            "simulation": any(synopsis.simulation for synopsis in self.series.values()),
            "counted": facts.counted,
            "caveats": list(caveats_of(self.series)),
            "guarantee": facts.claim.sentence,
            "everyone": self.series.everyone,
            "epsilon_of_all": float(self.series.lifetime),
            "confidence": confidence,
        }


def _records(level: PlacesOverTime) -> list[dict[str, Any]]:
    names: Sequence[str | None] = level.names or [None] * len(level.bounds)
    return [{"name": name, **row} for name, row in zip(names, _with_bounds(level.bounds, level.counts), strict=True)]


def _with_bounds(bounds: Floats, counts: OverTime) -> list[dict[str, Any]]:
    """Each place with its numbers, one a period and null in gaps."""
    columns = {name: [_finite(values) for values in getattr(counts, name).T.tolist()] for name in NUMBERS}
    known, usable = counts.known.tolist(), counts.usable.T.tolist()
    return [
        {
            **dict(zip(BOUNDS, rect, strict=True)),
            **{name: column[place] for name, column in columns.items()},
            "usable": [flag if is_known else None for flag, is_known in zip(usable[place], known, strict=True)],
        }
        for place, rect in enumerate(bounds.tolist())
    ]


def _finite(values: list[float]) -> list[float | None]:
    """Numbers for JSON, with null for those that are not finite."""
    return [value if math.isfinite(value) else None for value in values]
