"""A lower bound on epsilon from releases of neighbours.

Under ε-differential privacy, no event is more than exp(ε) times as likely on one data set as on its neighbour. Finding
an event that is, with confidence, shows that a claim is false. Finding none shows nothing.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np

from hushgrid.arrays import Floats
from hushgrid.audit.check import Check, Verdict
from hushgrid.errors import ArgumentError

LARGEST_ERROR = 0.25  # up to which a lower bound is sure to lie below the observed share


def lower_bound(successes: int, trials: int, *, error: float) -> float:
    """Lower confidence bound of a probability.

    The true probability is above it, except in a share `error` of all samples.

    It is the p at which at least this many successes have the probability `error`, and zero if there were none.

    Examples
    --------
    >>> round(lower_bound(10, 10, error=0.05), 6)  # 0.05 ** (1 / 10)
    0.741134
    """
    assert 0 < error <= LARGEST_ERROR
    if successes == 0:
        return 0.0
    log_error = math.log(error)
    low, high = 0.0, successes / trials
    while low < (middle := (low + high) / 2) < high:
        if _log_upper_tail(successes, trials, middle) <= log_error:
            low = middle
        else:
            high = middle
    return low


def upper_bound(successes: int, trials: int, *, error: float) -> float:
    """Upper confidence bound of a probability.

    The true probability is below it, except in a share `error` of all samples.

    Examples
    --------
    >>> round(upper_bound(0, 100, error=0.05), 4)  # about 3 / n
    0.0295
    """
    return 1 - lower_bound(trials - successes, trials, error=error)


def _log_upper_tail(successes: int, trials: int, p: float) -> float:
    """Log-probability of at least `successes` in a binomial.

    p must be at most ``successes / trials``.
    """
    odds = p / (1 - p)
    total = term = 1.0
    # Terms are relative to the first. They only fall, since p is below the observed share, and soon add nothing.
    for count in range(successes, trials):
        term *= (trials - count) / (count + 1) * odds
        total += term
        if term < total * 1e-17:
            break
    log_ways = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(trials - successes + 1)
    return log_ways + successes * math.log(p) + (trials - successes) * math.log1p(-p) + math.log(total)


RELATIONS = {"<=": np.less_equal, ">": np.greater, "==": np.equal, "!=": np.not_equal}  # with all complements
RELATIONS_IN_WORDS = {"<=": "is at most", ">": "is above", "==": "is", "!=": "is not"}
FEWEST_RUNS = 4


@dataclass(frozen=True, kw_only=True)
class Event:
    """A statistic that passes a threshold.

    Examples
    --------
    >>> str(Event(statistic=2, relation=">", threshold=7.0))
    'statistic 2 > 7'
    """

    statistic: int
    relation: str
    threshold: float

    def __str__(self) -> str:
        return f"statistic {self.statistic} {self.relation} {self.threshold:g}"

    def occurrences(self, statistics: Floats) -> int:
        """Number of runs in which it happened.

        Runs are rows of `statistics`.
        """
        holds = RELATIONS[self.relation](statistics[:, self.statistic], self.threshold)
        return int(np.count_nonzero(holds))


@dataclass(frozen=True, kw_only=True)
class EpsilonBound:
    """A lower bound on epsilon, and what showed it.

    Parameters
    ----------
    epsilon : float
        The bound, or zero if nothing was found.
    event : Event
        What was more likely on one data set than on the other.
    on_neighbour : bool
        Whether it was more likely on the second one.
    confidence : float
        How often such a bound holds, whatever the mechanism.
    """

    epsilon: float
    event: Event
    on_neighbour: bool
    confidence: float


def epsilon_lower_bound(statistics: Floats, neighbour: Floats, *, confidence: float = 0.999) -> EpsilonBound:
    """The largest lower bound that the samples support.

    For every statistic the most telling event is chosen on the first half of the runs, among all thresholds, their
    complements, and both directions. On the second half, which the choice has not seen, its bound is
    ``ln(lower p / upper p')`` by Clopper and Pearson. The error allowed is divided by the number of bounds taken.

    Parameters
    ----------
    statistics, neighbour : array of float, shape (runs, statistics)
        Numbers that describe each release on a data set, and on its neighbour: counts of cells, differences, sums, the
        number of cells. Runs are independent. The two samples may have different numbers of runs.
    confidence : float
        How often the bound holds, whatever the mechanism.

    Examples
    --------
    Randomised response that tells the truth three times out of four is ln(3)-DP, and no less:

    >>> rng = np.random.default_rng(1)
    >>> yes, no = rng.random((2, 20_000, 1)) < np.array([0.75, 0.25])[:, None, None]
    >>> bound = epsilon_lower_bound(yes, no)
    >>> bool(1.0 < bound.epsilon < math.log(3))
    True
    """
    first, second = _checked(statistics), _checked(neighbour)
    if first.shape[1] != second.shape[1]:
        msg = f"both samples need the same statistics, got {first.shape[1]} and {second.shape[1]}."
        raise ArgumentError(msg)
    if not 0.5 < confidence < 1:
        msg = f"confidence must lie between 0.5 and 1, got confidence={confidence!r}."
        raise ArgumentError(msg)
    error = (1 - confidence) / (2 * first.shape[1])
    (choosing, deciding), (choosing_neighbour, deciding_neighbour) = map(_halves, (first, second))
    bounds = []
    for statistic in range(first.shape[1]):
        event, on_neighbour = _most_telling(choosing, choosing_neighbour, statistic, error)
        samples = (deciding_neighbour, deciding) if on_neighbour else (deciding, deciding_neighbour)
        epsilon = _log_ratio_bound(event, *samples, error=error)
        bounds.append(EpsilonBound(epsilon=epsilon, event=event, on_neighbour=on_neighbour, confidence=confidence))
    return max(bounds, key=lambda bound: bound.epsilon)


def _checked(statistics: Floats) -> Floats:
    sample = np.asarray(statistics, np.float64)
    if sample.ndim != 2 or sample.shape[0] < FEWEST_RUNS or sample.shape[1] < 1 or np.isnan(sample).any():
        msg = (
            f"statistics must be numbers of shape (runs, statistics) with {FEWEST_RUNS} runs or more, none of them NaN."
        )
        raise ArgumentError(msg)
    return sample


def _halves(sample: Floats) -> tuple[Floats, Floats]:
    middle = len(sample) // 2
    return sample[:middle], sample[middle:]


def _most_telling(sample: Floats, neighbour: Floats, statistic: int, error: float) -> tuple[Event, bool]:
    """The event that promises the largest bound.

    Returns also whether it is more likely on the neighbour.
    """
    own, other = np.sort(sample[:, statistic]), np.sort(neighbour[:, statistic])
    thresholds = np.unique(np.concatenate([own, other]))
    shares = zip(_shares(own, thresholds), _shares(other, thresholds), RELATIONS, strict=True)
    best = (-math.inf, Event(statistic=statistic, relation="<=", threshold=float(thresholds[0])), False)
    for own_shares, other_shares, relation in shares:
        for on_neighbour, (likely, rare) in enumerate([(own_shares, other_shares), (other_shares, own_shares)]):
            scores = _promise(likely, rare, min(len(own), len(other)), error)
            index = int(np.argmax(scores))
            if scores[index] > best[0]:
                event = Event(statistic=statistic, relation=relation, threshold=float(thresholds[index]))
                best = (float(scores[index]), event, bool(on_neighbour))
    return best[1:]


def _shares(ordered: Floats, thresholds: Floats) -> Iterator[Floats]:
    """Share of a sample in each relation to thresholds.

    The sample must be sorted.
    """
    below = np.searchsorted(ordered, thresholds, side="left") / len(ordered)
    up_to = np.searchsorted(ordered, thresholds, side="right") / len(ordered)
    yield from (up_to, 1 - up_to, up_to - below, 1 - (up_to - below))


def _promise(likely: Floats, rare: Floats, runs: int, error: float) -> Floats:
    """Roughly the bound that events promise.

    It is computed from the intervals of Wilson (1927), which are quick and close.
    """
    z = NormalDist().inv_cdf(1 - error)
    # A share of zero gets a positive bound, so that the logarithm exists.
    low, high = np.maximum(_wilson(likely, runs, -z), np.finfo(float).tiny), _wilson(rare, runs, z)
    return np.asarray(np.log(low / high))


def _wilson(shares: Floats, runs: int, z: float) -> Floats:
    """Wilson bounds of the probabilities behind some shares.

    They lie z standard deviations above or below.
    """
    middle, reach = shares + z**2 / (2 * runs), np.sqrt(shares * (1 - shares) / runs + (z / (2 * runs)) ** 2)
    return np.asarray((middle + z * reach) / (1 + z**2 / runs))


def _log_ratio_bound(event: Event, likely: Floats, rare: Floats, *, error: float) -> float:
    """Lower bound of the event's log-ratio, at least zero."""
    low = lower_bound(event.occurrences(likely), len(likely), error=error)
    high = upper_bound(event.occurrences(rare), len(rare), error=error)
    return math.log(low / high) if low > high else 0.0


def verdict(
    title: str, method: str, samples: tuple[Floats, Floats], names: tuple[str, ...], claim: float, error: float
) -> tuple[Check, ...]:
    """Whether two samples differ by more than is claimed."""
    bound = epsilon_lower_bound(*samples, confidence=1 - error)
    result = partial(Check, part="neighbours", title=title, method=method, runs=sum(map(len, samples)), claim=claim)
    reach = largest_bound(min(map(len, samples)), len(names), error=error)
    if reach <= claim:
        finding = f"Too few runs: they could show no more than {reach:.2f}. Ask for more with --runs."
        return (result(verdict=Verdict.NOT_APPLICABLE, finding=finding, measured=bound.epsilon),)
    flagged = bound.epsilon > claim
    check = result(
        verdict=Verdict.FLAGGED if flagged else Verdict.PASSED,
        measured=bound.epsilon,
        finding=f"{_in_words(bound, samples, names, flagged=flagged)} These runs could show up to {reach:.2g}.",
    )
    return (check,)


def largest_bound(runs: int, statistics: int, *, error: float) -> float:
    """The most that a number of runs can show.

    That is the bound on a build that gives everything away.
    """
    each = error / (2 * statistics)
    deciding = runs - runs // 2
    low, high = lower_bound(deciding, deciding, error=each), upper_bound(0, deciding, error=each)
    return float(np.log(low / high)) if low > high else 0.0


def _in_words(bound: EpsilonBound, samples: tuple[Floats, Floats], names: tuple[str, ...], *, flagged: bool) -> str:
    """Say what told the data sets apart best."""
    if bound.epsilon == 0:
        return "Nothing an attacker looked at told the two data sets apart for sure."
    seen = f"{names[bound.event.statistic]} {RELATIONS_IN_WORDS[bound.event.relation]} {bound.event.threshold:.4g}"
    shares = [bound.event.occurrences(sample) / len(sample) for sample in samples]
    words = "More than promised" if flagged else "Within what is promised"
    return f"{words}: {seen} in {shares[0]:.1%} of releases without the record and {shares[1]:.1%} with it."
