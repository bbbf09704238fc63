"""What a release will take: one model for the bar and for warnings.

All figures are rough, and of one core of an ordinary computer. They follow from public arguments and, where it was
released, the noisy size: never from an exact number.
"""

from dataclasses import dataclass
from typing import NamedTuple

from hushgrid.counting.cell_loops import MOST_POINTS
from hushgrid.counting.counter import SourceKind
from hushgrid.methods.method import Method, most_cells
from hushgrid.methods.staq import AimedQuadtree
from hushgrid.release.auto import AUTO, FEWEST_FOR_STAQ
from hushgrid.work import Stage, Step


class Price(NamedTuple):
    """What a method takes.

    Parameters
    ----------
    cells : float
        Leaf cells for a point at ε = 1, if neither points nor cells are few.
    fewest : int
        Leaf cells at least.
    rounds : tuple of float
        Questions asked of the points, each with its share of the seconds of cells.
    once : bool
        Whether most questions are answered from one pass.
    row, cell, inference : float
        Seconds of a row in a pass, and of a leaf cell until it is measured and then until it is known.
    memory : int
        Bytes of a leaf cell.
    """

    cells: float = 0.1  # Guideline 1 (Qardaji et al. 2013)
    fewest: int = 1
    rounds: tuple[float, ...] = (1.0,)
    once: bool = False
    row: float = 1e-8
    cell: float = 1e-7
    inference: float = 1e-7
    memory: int = 200


def _evenly(questions: int) -> tuple[float, ...]:
    return (1 / questions,) * questions


# Measured on a made-up population of 300,000 and 2,000,000 points at epsilon 0.1 and 1 (docs/plan.md).
OTHER = Price()
STAQ = Price(
    cells=0.14,
    fewest=64,
    rounds=(0.02, 0.03, 0.05, 0.15, 0.25, 0.25, 0.15, 0.1),
    once=True,
    row=5e-8,
    cell=4e-6,
    inference=7e-6,
    memory=800,
)
PRIVATE_CUTS = Price(cells=0.12, rounds=_evenly(18), row=2e-7, cell=2e-5, memory=300)
PRICES = {
    "auto": STAQ,
    "staq": STAQ,
    "aimed": STAQ._replace(rounds=(0.05, 0.2, 0.75)),
    "ag": Price(cells=0.12, fewest=100, rounds=(0.1, 0.9)),
    "dag": Price(cells=0.14, rounds=(0.1, 0.9), cell=8e-7),
    "dpcube": Price(cell=1e-5),
    "dawa": Price(cells=0.08, cell=8e-6),
    "kd": PRIVATE_CUTS,
    "kd-hybrid": PRIVATE_CUTS._replace(cells=0.1, rounds=_evenly(10), row=8e-8),
    "balanced": PRIVATE_CUTS,
    "privtree": Price(rounds=_evenly(17), once=True, row=5e-8, cell=2e-6),
    "uniform": Price(cells=0.0),
}
AIMED_CELLS = 0.6  # of the finest level: the emptiest stay whole, the fullest go further
READING = {"table": 2e-8, "csv": 2.2e-7, "engine": 2e-7}  # seconds of a row, whenever it is read
SIZING = {"table": 0.0, "csv": 6e-8, "engine": 2e-7}  # seconds of a row, to know how many there are; engines copy them
BOUNDING = 5e-7  # seconds of a row, to find which records of a user are kept
WRITING = 1.2e-6  # seconds of a cell
LIKENESS = 0.2  # seconds to make up points like those of a release, for the width of its intervals
LIKENESS_CELLS = 10_000  # that such points are published on at most
LIKENESS_CELL = 1e-6  # seconds of a cell of the release itself
BASE_MEMORY = 2e8  # bytes
BOUNDING_MEMORY, MOST_BOUNDING_MEMORY = 100, 5e8  # bytes of a row, and in all
SORTED_MEMORY = 16  # bytes of each point that is sorted, so that quadtree cells are counted in one pass
NOMINAL_SIZE = 10**6  # where no size is known: what stages take in proportion hardly depends on it

LONG, LARGE = 60, 2e9  # seconds and bytes that nobody should be surprised by


@dataclass(frozen=True, kw_only=True)
class Cost:
    """About what a release takes, before it is made.

    Parameters
    ----------
    method : Method
    epsilon : float
        What the method may spend on one record.
    size : int, optional
        Number of points, public or noisy; of kept records at user level.
    cells : int, optional
        Leaf cells, where they are public.
    max_cells : int, optional
        Limit on cells that was asked for.
    kind : "table", "csv" or "engine"
        Where the points are.
    users : bool
        Whether records of users are bounded first.
    size_from : "public", "rows" or "domain"
        Where the size comes from.
    calibrate : bool

    Examples
    --------
    >>> from hushgrid.methods.staq import Staq
    >>> cost = Cost(method=Staq(), epsilon=1.0, size=2_000_000)
    >>> cost.about_cells, 1 < cost.seconds < 20, cost.is_large
    (280000, True, False)
    >>> Cost(method=Staq(), epsilon=8.0, size=20_000_000).about_cells == Staq.most_cells
    True
    """

    method: Method
    epsilon: float
    size: int | None = None
    cells: int | None = None
    max_cells: int | None = None
    kind: SourceKind = "table"
    users: bool = False
    size_from: str = "rows"
    calibrate: bool = True

    @property
    def about_cells(self) -> int:
        """About how many leaf cells there will be."""
        if self.cells is not None:
            return self.cells
        signal = self._size * self.epsilon
        is_grid = self.method.name == AUTO and self.size_from == "public" and signal < FEWEST_FOR_STAQ
        price = OTHER if is_grid else self._price
        wanted = signal * price.cells
        if isinstance(self.method, AimedQuadtree):
            wanted = AIMED_CELLS * 4 ** self.method.finest_level(signal)
        return max(price.fewest, round(min(wanted, self.max_cells or most_cells(self.method))))

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return sum(step.seconds for step in self.steps)

    def seconds_of(self, stage: Stage) -> float:
        """About how long one stage takes."""
        return sum(step.seconds for step in self.steps if step.stage == stage)

    @property
    def memory(self) -> float:
        """About how many bytes it takes."""
        codes = SORTED_MEMORY * min(self._size, MOST_POINTS) if self._price.once else 0
        bounding = min(BOUNDING_MEMORY * self._size, MOST_BOUNDING_MEMORY) if self.users else 0
        return BASE_MEMORY + bounding + codes + self._price.memory * self.about_cells

    @property
    def is_large(self) -> bool:
        """Whether it is worth a word beforehand."""
        return (self.size is not None or self.cells is not None) and (self.seconds > LONG or self.memory > LARGE)

    @property
    def steps(self) -> tuple[Step, ...]:
        """All of the work, each step with its seconds.

        Which steps there are depends neither on the size nor on where the points are.
        """
        price, cells, rows = self._price, self.about_cells, self._size
        ahead = rows * (READING if self.users else SIZING)[self.kind]
        again = rows * (price.row + (0.0 if self.users else READING[self.kind]))
        sized = [Step("counting", again)] if self.size_from == "domain" else []
        questions = [
            Step("counting", share * cells * price.cell + again * self._is_pass(number))
            for number, share in enumerate(price.rounds)
        ]
        made_up = min(cells, LIKENESS_CELLS) * (price.cell + price.inference)
        return (
            Step("reading", ahead),
            Step("bounding", rows * BOUNDING if self.users else 0.0),
            *sized,
            *questions,
            Step("inference", cells * price.inference),
            Step("intervals", LIKENESS + made_up + cells * LIKENESS_CELL if self.calibrate else 0.0),
            Step("writing", cells * WRITING),
        )

    def _is_pass(self, number: int) -> bool:
        """Whether a question is likely to read all points."""
        if not self._price.once or self.kind == "engine":
            return True
        return number == 0 or (self._size > MOST_POINTS and number in (4, 6))

    @property
    def _price(self) -> Price:
        return PRICES.get(self.method.name, OTHER)

    @property
    def _size(self) -> int:
        return NOMINAL_SIZE if self.size is None else max(self.size, 1)


def cost_warning(cost: Cost) -> str | None:
    """Say what a release is about to take, if that is much.

    Examples
    --------
    >>> from hushgrid.methods.staq import Staq
    >>> cost_warning(Cost(method=Staq(), epsilon=1.0, size=1000)) is None
    True
    >>> print(cost_warning(Cost(method=Staq(), epsilon=1.0, size=10**9, max_cells=2**22)).split(", ")[1])
    for about 4,200,000 cells. --max-cells sets fewer.
    """
    if not cost.is_large:
        return None
    said = f"This will take {time_in_words(cost.seconds)} and {memory_in_words(cost.memory)}, for about "
    said += f"{float(f'{cost.about_cells:.2g}'):,.0f} cells."
    if cost.cells is None:
        said += " --max-cells sets fewer."
    intervals = cost.seconds_of("intervals")
    if intervals > cost.seconds / 4:
        said += f" --no-calibrate saves {time_in_words(intervals)}."
    return said


def time_in_words(seconds: float) -> str:
    """A time to one or two digits, in the unit people would take.

    Examples
    --------
    >>> time_in_words(0.4), time_in_words(47), time_in_words(190), time_in_words(9000)
    ('about a second', 'about 47 seconds', 'about 3 minutes', 'about 2.5 hours')
    """
    if seconds < 1.5:
        return "about a second"
    if seconds < 90:
        return f"about {seconds:.0f} seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds < 5400 else f"about {seconds / 3600:.2g} hours"


def memory_in_words(memory: float) -> str:
    """An amount of memory to two digits.

    Examples
    --------
    >>> memory_in_words(2.04e8), memory_in_words(1.53e9)
    ('200 MB', '1.5 GB')
    """
    return f"{float(f'{memory / 1e6:.2g}'):.0f} MB" if memory < 9.95e8 else f"{memory / 1e9:.2g} GB"
