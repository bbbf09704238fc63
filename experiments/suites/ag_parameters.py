"""AG with α and c2 varied: the nine candlesticks of each figure, and the longer rows that the paper only mentions."""

from collections.abc import Iterator, Mapping

from experiments.datasets import PLACES
from experiments.suites.suite import LANDMARKS, RUNS, Contender, Suite, trials
from experiments.trial import Trial

# Two first-level sizes a figure, as in the paper; for the smaller landmark set they are near its own suggestion.
FIRST_SIDES = {
    ("checkin_gowalla_sub", 0.1): (16, 32),
    ("checkin_gowalla_sub", 1.0): (48, 64),
    ("gowalla", 0.1): (16, 32),
    ("gowalla", 1.0): (48, 64),
    (LANDMARKS, 0.1): (12, 24),
    (LANDMARKS, 1.0): (32, 48),
}
QUICK_FIRST_SIDES = {(PLACES.name, 0.1): (12,), (PLACES.name, 1.0): (32,)}
FIGURE = [(alpha, c2) for alpha in (0.25, 0.5, 0.75) for c2 in (5.0, 10.0, 15.0)]
MENTIONED = [(0.5, c2) for c2 in (3.0, 4.0, 6.0, 7.0, 8.0, 9.0)] + [(tenths / 10, 5.0) for tenths in range(1, 10)]


def _contenders(first_side: int) -> Iterator[Contender]:
    for alpha, c2 in dict.fromkeys(FIGURE + MENTIONED):
        yield "ag", {"first_side": first_side, "alpha": alpha, "c2": c2}


def _trials(figures: Mapping[tuple[str, float], tuple[int, ...]], runs: int) -> tuple[Trial, ...]:
    return tuple(
        trial
        for (dataset, epsilon), first_sides in figures.items()
        for first_side in first_sides
        for trial in trials([dataset], list(_contenders(first_side)), [epsilon], runs)
    )


SUITE = Suite(
    title="AG with alpha and c2 varied",
    full=_trials(FIRST_SIDES, RUNS),
    quick=_trials(QUICK_FIRST_SIDES, 1),
)
