"""Known attacks on published counts, replayed.

Each was once a real flaw of some program.

An attack returns what it found, or nothing if it failed. Attacks on files look at releases of every method. Chance
alone makes none of them succeed more than once in ten million audits.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from hushgrid.audit.check import Check, Experiment, Setting, Verdict
from hushgrid.audit.neighbours import UNIT_SQUARE
from hushgrid.audit.replays import CORNER, POINTS, RECORDS, REPLAYS, Sight, sights

SIDES = ("west", "south", "east", "north")
MANY = 20  # expected negative measurements, so that chance gives none once in 10**8
TRUE_SIZE = re.compile(rf"(?<![\d.]){RECORDS}(?![\d.])|{RECORDS:,}")


@dataclass(frozen=True)
class FileAttack:
    """A sign to look for in a release."""

    title: str
    found: Callable[[Sight], bool]
    finding: str
    held: str


def shows_the_size(sight: Sight) -> bool:
    """Whether the exact number of records is shown.

    It is looked for as text, in the metadata of a file and in messages.
    """
    return TRUE_SIZE.search(sight.text + sight.said) is not None


def shows_a_coordinate(sight: Sight) -> bool:
    """Whether any column holds a record's exact coordinate."""
    return any(np.isin(sight.table[name].to_numpy(), POINTS).any() for name in SIDES)


def lacks_cells(sight: Sight) -> bool:
    """Whether cells are missing from the file.

    Then there are fewer rows than cells, or part of the domain is not covered.
    """
    west, south, east, north = (sight.table[name].to_numpy() for name in SIDES)
    area = np.sum((east - west) * (north - south))
    return sight.table.num_rows != sight.release.partition.cells or not np.isclose(area, 1.0)


def reorders_rows(sight: Sight) -> bool:
    """Whether rows leave the order of the partition."""
    rows = np.stack([sight.table[name].to_numpy() for name in SIDES], axis=1)
    bounds = sight.release.partition.bounds()
    return rows.shape != bounds.shape or not np.array_equal(rows, bounds)


def follows_the_data(sight: Sight) -> bool:
    """Whether the bounds differ from the domain's.

    All records lie in one corner of the domain, so bounds made from data would differ.
    """
    west, south, east, north = (sight.table[name].to_numpy() for name in SIDES)
    extent = (west.min(), south.min(), east.max(), north.max())
    return extent != UNIT_SQUARE.bounds or sight.release.domain != UNIT_SQUARE


def is_not_whole(sight: Sight) -> bool:
    """Whether measurements are not integers."""
    parts = (sight.release.measurements.leaves, sight.release.measurements.region_values)
    whole = all(np.issubdtype(part.values.dtype, np.signedinteger) for part in parts)
    return not whole or str(sight.table.schema.field("measured").type) != "int64"


def is_cut_at_zero(sight: Sight) -> bool:
    """Whether empty cells have no negative measurement.

    Releases in which noise should not make many of them negative pass.
    """
    leaves, bounds = sight.release.measurements.leaves, sight.release.partition.bounds()
    empty = (leaves.rate_index >= 0) & (bounds[:, :2].max(axis=1) >= CORNER)
    rates = np.array([*map(float, leaves.rates), np.inf])[leaves.rate_index[empty]]
    expected = np.sum(1 / (1 + np.exp(rates)))  # P(Z < 0) = q / (1 + q), q = exp(-rate)
    return bool(expected >= MANY and leaves.values[empty].min() >= 0)


def does_not_add_up(sight: Sight) -> bool:
    """Whether a file contradicts itself or states no claim."""
    return bool(sight.complaints) or "Adding or removing any one record" not in sight.release.claim.sentence


FILE_ATTACKS = (
    FileAttack(
        "The exact number of records",
        shows_the_size,
        "The true number of records appears in the file or in a message.",
        "Neither the files nor anything printed or logged holds the true number of records.",
    ),
    FileAttack(
        "Coordinates of records",
        shows_a_coordinate,
        "A coordinate of a record appears in the file.",
        "No number in the files is a coordinate of a record.",
    ),
    FileAttack(
        "Messages while publishing",
        lambda sight: bool(sight.said),
        "Something was printed, logged or warned of while the data was read.",
        "Nothing was printed, logged or warned of while the data was read.",
    ),
    FileAttack(
        "Empty cells left out",
        lacks_cells,
        "Cells are missing: the missing rows show where nobody is.",
        "Every cell has a row, even where nobody is.",
    ),
    FileAttack(
        "Order of rows",
        reorders_rows,
        "Rows do not come in the order of the cells.",
        "Rows come in the order of the cells, which is public.",
    ),
    FileAttack(
        "Bounds taken from the data",
        follows_the_data,
        "The bounds follow the records.",
        "The bounds are those of the domain given, though all records lay in one corner.",
    ),
    FileAttack(
        "Fractions in measurements",
        is_not_whole,
        "Measurements are not whole numbers: the last digits of a fraction can tell the true count.",
        "All measurements are whole numbers.",
    ),
    FileAttack(
        "Noise cut off at zero",
        is_cut_at_zero,
        "No measurement is below zero: totals would be far too large.",
        "Measurements keep their sign.",
    ),
    FileAttack(
        "A claim that does not add up",
        does_not_add_up,
        "A file contradicts itself: counts, cells or epsilon do not follow from the rest.",
        "In every file the counts follow from the measurements, and epsilon from the noise stated.",
    ),
)
NOTES = {
    "Time": "How long a release takes may depend on the data. Everything is drawn before anything is shown, but an "
    "attacker who can time the steward's machine is outside the promise.",
    "Many releases averaged": "Ten releases cost ten epsilons. One audit sees one release: keep the account with "
    "'hushgrid ledger'.",
    "The machine itself": "Whoever reads the memory, the temporary files or the data of the machine that publishes "
    "needs no release.",
}


def attack_experiments(setting: Setting) -> Iterator[Experiment]:
    """All attacks, as experiments."""
    seen = cache(partial(sights, setting))
    for attack in FILE_ATTACKS:
        yield Experiment(
            title=f"attacks: {attack.title}", group="attacks", statistical=0, run=partial(_on_files, attack, seen)
        )
    for title, (replay, held) in REPLAYS.items():
        yield Experiment(
            title=f"attacks: {title}",
            group="attacks",
            statistical=0,
            run=partial(_replayed, title, partial(replay, setting), held),
        )
    for title, text in NOTES.items():
        yield Experiment(title=f"attacks: {title}", group="attacks", statistical=0, run=partial(_noted, title, text))


def _on_files(attack: FileAttack, seen: Callable[[], Mapping[str, list[Sight]]], _error: float) -> tuple[Check, ...]:
    """Try an attack on releases of every method.

    It is flagged if it succeeds on all releases of a method: on one, noise may hit a true value by chance.
    """
    broken = [name for name, releases in seen().items() if all(map(attack.found, releases))]
    return _result(attack.title, f"{attack.finding} Methods: {', '.join(broken)}." if broken else None, attack.held)


def _replayed(title: str, replay: Callable[[], str | None], held: str, _error: float) -> tuple[Check, ...]:
    return _result(title, replay(), held)


def _noted(title: str, text: str, _error: float) -> tuple[Check, ...]:
    return (Check(part="attacks", title=title, verdict=Verdict.NOT_APPLICABLE, finding=text),)


def _result(title: str, found: str | None, held: str) -> tuple[Check, ...]:
    verdict = Verdict.PASSED if found is None else Verdict.FLAGGED
    return (Check(part="attacks", title=title, verdict=verdict, finding=found or held),)
