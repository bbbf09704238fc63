"""What public priors gain, how often intervals hold with them, and what they gain where users are protected."""

from collections import defaultdict
from collections.abc import Iterable

from experiments.estimate import Estimate, mean_of
from experiments.figures.exhibit import DASH, Exhibit, Table
from experiments.priors import PRIORS
from experiments.trial import ALL_SIZES, QUERIES, Row

ERRORS = ("relative", "absolute")
HELD, PLAIN = "held", "plain_"  # the second marks what is measured without the prior

Case = tuple[str, str]  # a prior and a data set
Runs = dict[int, Row]  # one row a run


class PriorRows:
    """Rows of trials with a prior, by case, bound on users, budget and query size.

    Parameters
    ----------
    rows : list of rows
        As `Results.rows` gives them; rows of other kinds are left aside.
    """

    def __init__(self, rows: list[Row]) -> None:
        self._runs: dict[tuple[Case, int | None, float, str], Runs] = defaultdict(dict)
        for row in rows:
            if "nats" in row and "prior" in row:
                case = row["prior"], row["dataset"]
                self._runs[case, row.get("max_per_user"), row["epsilon"], row["queries"]][row["seed"]] = row

    def cases(self, *, by_user: bool = False, covered: bool = False) -> list[Case]:
        """Cases of records or of users, in the order of priors; of which intervals were asked."""
        found = {
            case: None
            for (case, bound, _, _), runs in self._runs.items()
            if (bound is not None) == by_user and (not covered or any(HELD in row for row in runs.values()))
        }
        order = list(PRIORS)
        return sorted(found, key=lambda case: order.index(case[0]))

    def epsilons(self, *, by_user: bool = False) -> list[float]:
        """Budgets that were tried."""
        return sorted({epsilon for _, bound, epsilon, _ in self._runs if (bound is not None) == by_user})

    def bounds(self) -> list[int]:
        """Bounds on the records of a user that were tried."""
        return sorted({bound for _, bound, _, _ in self._runs if bound is not None})

    def runs(self, case: Case, epsilon: float, *, bound: int | None = None, queries: str = ALL_SIZES) -> Runs:
        """Rows of a case by run; none where it was not tried."""
        return self._runs.get((case, bound, epsilon, queries), {})

    def points(self, case: Case) -> int:
        """How many records were published."""
        sizes = (row["points"] for (of, _, _, _), runs in self._runs.items() if of == case for row in runs.values())
        return int(next(sizes))


def mean(runs: Runs, name: str) -> Estimate:
    """Mean of a number over runs; those without it are left aside."""
    return Estimate.of({seed: row[name] for seed, row in runs.items() if name in row})


def gain(runs: Runs) -> str:
    """Relative and absolute error as a share of those without the prior."""
    if not runs:
        return DASH
    return " / ".join((mean(runs, error) / mean(runs, PLAIN + error)).text() for error in ERRORS)


def believed(runs: Iterable[Runs]) -> str:
    """In how many releases the prior was used."""
    used = [row["used"] for each in runs for row in each.values()]
    return f"{sum(used)} of {len(used)}"


def gain_table(rows: list[Row]) -> Table:
    """Errors with each prior as a share of those without, by budget."""
    found = PriorRows(rows)
    epsilons = found.epsilons()
    lines = []
    for case in found.cases():
        runs = [found.runs(case, epsilon) for epsilon in epsilons]
        prior, dataset = case
        lines.append((prior, dataset, f"{found.points(case):,}", believed(runs), *map(gain, runs)))
    headings = ("prior", "set", "records", "believed", *(f"ε = {epsilon:g}" for epsilon in epsilons))
    return Table(headings=headings, lines=tuple(lines))


def interval_table(rows: list[Row]) -> Table:
    """Per cent of queries whose 95 % interval holds the truth, by budget and by query size."""
    found = PriorRows(rows)
    cases = found.cases(covered=True)
    epsilons = [each for each in found.epsilons() if any(mean(found.runs(case, each), HELD).known for case in cases)]
    lines = [(*case, *_shares(found, [case], epsilons, HELD)) for case in cases]
    everything = (_shares(found, cases, epsilons, field) for field in (HELD, PLAIN + HELD))
    if cases:
        lines += [(name, "all sets", *next(everything)) for name in ("all priors", "without a prior")]
    headings = ("prior", "set", *(f"ε = {epsilon:g}" for epsilon in epsilons), *QUERIES)
    return Table(headings=headings, lines=tuple(lines))


def user_table(rows: list[Row]) -> Table:
    """Errors at user level as a share of those without the prior, by bound and budget."""
    found = PriorRows(rows)
    epsilons = found.epsilons(by_user=True)
    lines = []
    for case in found.cases(by_user=True):
        for bound in found.bounds():
            runs = [found.runs(case, epsilon, bound=bound) for epsilon in epsilons]
            lines.append((case[0], str(bound), believed(runs), *map(gain, runs)))
    return Table(headings=("prior", "K", "believed", *(f"ε = {epsilon:g}" for epsilon in epsilons)), lines=tuple(lines))


def _shares(found: PriorRows, cases: list[Case], epsilons: list[float], field: str) -> list[str]:
    """Per cents by budget, then by query size and over all."""
    return [
        *(_per_cent(mean(found.runs(case, epsilon), field) for case in cases) for epsilon in epsilons),
        *(
            _per_cent(mean(found.runs(case, each, queries=queries), field) for case in cases for each in epsilons)
            for queries in QUERIES
        ),
    ]


def _per_cent(estimates: Iterable[Estimate]) -> str:
    return mean_of(estimates).text(".1%").removesuffix("%")


GAINS = Exhibit(
    title="What public priors gain",
    caption="Relative / absolute error of STAQ with a prior, as a share of that of the same measurements without, with "
    "standard errors over releases; and in how many releases the prior was believed.",
    table=gain_table,
)
INTERVALS = Exhibit(
    title="Coverage with public priors",
    caption="Per cent of queries whose 95 % interval holds the truth, by budget over all query sizes, and by query "
    "size over both budgets.",
    table=interval_table,
)
USERS = Exhibit(
    title="Public priors where users are protected",
    caption="Relative / absolute error with a prior as a share of that without, for check-ins of New York with at most "
    "K records of each user, scaled to the number of all records.",
    table=user_table,
)
