"""Attacks that publish data, and all that shows."""

import hashlib
import inspect
import io
import logging
import os
import ssl
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.audit.check import Setting
from hushgrid.audit.examples import LARGE, SMALL
from hushgrid.audit.neighbours import UNIT_SQUARE
from hushgrid.errors import ArgumentError, BudgetError, HushgridError, SynopsisFileError
from hushgrid.files.verify import verify_file
from hushgrid.methods.method import Method
from hushgrid.methods.uniform_grid import UniformGrid
from hushgrid.privacy.bits import SystemBits, simulation_rng
from hushgrid.privacy.budget import Budget
from hushgrid.release.publish import publish
from hushgrid.synopsis.synopsis import Synopsis

PLASTIC = 1.32471795724474602596  # x**3 = x + 1; its powers fill the plane evenly (Roberts 2018, sequence R2)
RECORDS = 4217  # a number that nothing else in a release looks like
POINTS = 0.03 + 0.38 * (np.outer(np.arange(1, RECORDS + 1), [1 / PLASTIC, 1 / PLASTIC**2]) % 1)
CORNER = 0.5  # no record lies beyond it, in either direction
RELEASES = 4  # of each method, because noise may hit a true value by chance once
LARGEST_EPSILON = Fraction(1)  # above, noise is so small that it would hit true values often
PACKAGE = Path(__file__).parents[1]
TEXT_KEYS = (b"hushgrid", b"geo")  # the other parts of a footer hold nothing but numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class Sight:
    """One release, and all that can be seen.

    Parameters
    ----------
    release : Synopsis
    table : pyarrow.Table
        The rows of its file.
    text : str
        All text in the file, and the description of the release.
    said : str
        What was printed, logged or warned of while publishing.
    complaints : tuple of str
        Checks of `verify` that failed.
    """

    release: Synopsis
    table: pa.Table
    text: str
    said: str
    complaints: tuple[str, ...]


def sights(setting: Setting) -> dict[str, list[Sight]]:
    """Some releases of each method."""
    look = partial(_sight, setting=setting)
    return {name: [look(LARGE[name]) for _ in range(RELEASES)] for name in setting.methods}


def _sight(method: Method, *, setting: Setting) -> Sight:
    with tempfile.TemporaryDirectory() as folder, overheard() as said:
        release = publish(
            POINTS,
            domain=UNIT_SQUARE,
            epsilon=min(setting.epsilon, LARGEST_EPSILON),
            method=method,
            calibrate=False,
            progress=lambda _: None,
            rng=setting.rng,
        )
        path = Path(folder) / "release.dp.parquet"
        release.save(path, allow_simulation=setting.rng is not None)
        table = pq.ParquetFile(path, pre_buffer=False).read(use_threads=False)
        metadata = pq.read_metadata(path).metadata or {}
        complaints = _complaints(path)
    parts = [*(metadata.get(key, b"").decode() for key in TEXT_KEYS), repr(release), release.claim.sentence]
    return Sight(release=release, table=table, text="\n".join(parts), said=said.getvalue(), complaints=complaints)


def _complaints(path: Path) -> tuple[str, ...]:
    """What `verify` says against a file.

    Seeded noise, as in tests, is not a complaint.
    """
    try:
        checks = verify_file(path).checks
    except SynopsisFileError:
        return ("it cannot be read",)
    return tuple(check.name for check in checks if not check.ok and check.name != "release")


@contextmanager
def overheard() -> Iterator[io.StringIO]:
    """Collect everything printed, logged or warned of.

    Of our own code, what is logged for debugging, too.
    """
    said = io.StringIO()
    handler, root = logging.StreamHandler(said), logging.getLogger()
    handler.addFilter(lambda record: record.levelno >= level or PACKAGE in Path(record.pathname).parents)
    root.addHandler(handler)
    level = root.level
    root.setLevel(logging.DEBUG)
    try:
        with redirect_stdout(said), redirect_stderr(said), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            yield said
        said.writelines(f"{warning.message}\n" for warning in warned)
    finally:
        root.setLevel(level)
        root.removeHandler(handler)


Replay = Callable[[Setting], str | None]

SEED = 1  # of noise that is the same for two inputs, so that any difference is of the inputs
HUGE = Fraction(10**6)  # epsilon at which noise is nearly always zero
BAD = ((np.nan, 0.5), (0.5, np.inf), (-7.0, 0.5), (0.5, 1e300))
DRAW = "from hushgrid.privacy.bits import SystemBits; print(SystemBits().words(16).tolist())"


def order_of_records(setting: Setting) -> str | None:
    """Whether the order of records changes a release."""
    return _different(setting, POINTS, POINTS[::-1], "The release depends on the order of the records")


def one_bad_record(setting: Setting) -> str | None:
    """Whether a bad record changes or stops a release.

    A bad record is not a point, or lies outside the domain.
    """
    for bad in BAD:
        try:
            found = _different(setting, POINTS, np.vstack([POINTS, bad]), "A record outside the domain changes counts")
        except Exception as error:  # noqa: BLE001  # whatever a record causes is a leak
            found = f"A single record causes an error ({type(error).__name__}): whether there is one shows"
        if found is not None:
            return found
    return None


def weights(setting: Setting) -> str | None:
    """Whether a record can count more than once."""
    others = inspect.signature(publish).parameters.keys() - {"prior_weight"}  # which is of public points
    if any("weight" in name for name in others):
        return "Records can be given weights."
    plain = {"lon": POINTS[:, 0], "lat": POINTS[:, 1]}
    weighted = pa.table({**plain, "weight": np.full(len(POINTS), 1e6)})
    return _different(setting, pa.table(plain), weighted, "A column of weights is obeyed")


def upper_edge(_setting: Setting) -> str | None:
    """Whether a record on the upper corner is lost."""
    corner = publish([[1.0, 1.0]], domain=UNIT_SQUARE, epsilon=HUGE, method=UniformGrid(side=3), calibrate=False)
    return None if corner.measurements.leaves.values[-1] == 1 else "A record on the upper edge of the domain is lost."


def domain_left_out(_setting: Setting) -> str | None:
    """Whether a missing domain is made from data."""
    required = inspect.signature(publish).parameters["domain"].default is inspect.Parameter.empty
    return None if required else "A release can be made without a domain, which would have to come from the data."


def repeated_releases(_setting: Setting) -> str | None:
    """Whether two releases have the same noise."""
    first, second = (_noise(_release(POINTS, UniformGrid(side=16), rng=None)) for _ in range(2))
    return "Two releases have the same noise." if np.array_equal(first, second) else None


def repeated_processes(_setting: Setting) -> str | None:
    """Whether two processes draw the same noise."""
    command = [sys.executable, "-c", DRAW]
    drawn = [subprocess.run(command, capture_output=True, check=True).stdout for _ in range(2)]  # noqa: S603
    return "Two processes draw the same noise." if drawn[0] == drawn[1] else None


def bits_from_elsewhere(_setting: Setting) -> str | None:
    """Whether noise depends on anything but system bits.

    It might depend on a clock or a process number.
    """
    same, again, other = (_noise_of_system(seed) for seed in (b"one", b"one", b"other"))
    if not np.array_equal(same, again):
        return "With the same bits of the system, two releases have different noise: it comes from elsewhere."
    return "Noise does not depend on the bits of the system." if np.array_equal(same, other) else None


def _noise_of_system(seed: bytes) -> Any:
    """Noise of a release when system generators repeat."""
    drawn = 0

    def stream(count: int) -> bytes:
        nonlocal drawn
        drawn += 1
        return hashlib.shake_256(seed + str(drawn).encode()).digest(count)

    originals = ssl.RAND_bytes, os.urandom
    ssl.RAND_bytes, os.urandom = stream, stream
    try:
        return _noise(_release(POINTS, UniformGrid(side=16), rng=None))
    finally:
        ssl.RAND_bytes, os.urandom = originals


def account_of_a_ledger(setting: Setting) -> str | None:
    """Whether a ledger redraws a release or is overdrawn."""
    from hushgrid.ledger.ledger import open_ledger

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger"
        with open_ledger(path, create=True) as ledger:
            ledger.add_dataset("audited", budget=2 * setting.epsilon, unit="record")
        account: dict[str, Any] = {"ledger": path, "dataset": "audited", "epsilon": setting.epsilon}
        first, again = (_noise(_release(POINTS, UniformGrid(side=16), **account)) for _ in range(2))
        if not np.array_equal(first, again):
            return "A release that is asked for again is drawn again."
        second = _noise(_release(POINTS, UniformGrid(side=16), new_release=True, **account))
        if np.array_equal(first, second):
            return "Another release has the same noise."
        try:
            _release(POINTS, UniformGrid(side=16), new_release=True, **account)
        except HushgridError:
            return None
    return "More can be spent than a ledger has."


def simulation_as_release(_setting: Setting) -> str | None:
    """Whether seeded noise can pass as a release."""
    simulated = _release(POINTS, UniformGrid(side=2), rng=simulation_rng(SEED))
    with tempfile.TemporaryDirectory() as folder:
        try:
            simulated.save(Path(folder) / "simulated.dp.parquet")
        except ArgumentError:
            return None if simulated.simulation else "Noise from a seed is not marked."
    return "Noise from a seed can be saved as a release."


def overdrawn_budget(_setting: Setting) -> str | None:
    """Whether a method can spend more than granted."""
    budget = Budget(Fraction(1), bits=SystemBits())
    budget.measure(np.zeros(3, np.int64), Fraction(3, 4))
    try:
        budget.measure(np.zeros(3, np.int64), Fraction(1, 2))
    except BudgetError:
        return None
    return "More can be spent than was granted."


def overstated_methods(setting: Setting) -> str | None:
    """Whether a method claims more than was asked."""
    claims = {name: _release(POINTS, SMALL[name], epsilon=setting.epsilon).claim.epsilon for name in setting.methods}
    above = [name for name, claimed in claims.items() if claimed > setting.epsilon]
    return f"More is spent than was asked for. Methods: {', '.join(above)}." if above else None


REPLAYS: Mapping[str, tuple[Replay, str]] = {
    "Order of records": (order_of_records, "The same records in another order give the same release."),
    "One bad record": (one_bad_record, "Records that are not points or lie outside change nothing and cause no error."),
    "Weights": (weights, "No record can count more than once."),
    "Upper edge of the domain": (upper_edge, "A record on the upper edge is counted."),
    "No domain given": (domain_left_out, "The domain has to be given. It never comes from the data."),
    "Seeds repeated between releases": (repeated_releases, "Two releases of the same data have different noise."),
    "Seeds repeated between processes": (repeated_processes, "Two processes draw different noise."),
    "Bits from elsewhere than the system": (bits_from_elsewhere, "All noise comes from the generators of the system."),
    "Account of a ledger": (account_of_a_ledger, "A release is drawn once, and no budget is overdrawn."),
    "A simulation passed off as a release": (simulation_as_release, "Seeded noise is marked, and not saved unasked."),
    "Budget overdrawn": (overdrawn_budget, "Spending more than was granted is refused."),
    "Epsilon exceeded by a method": (overstated_methods, "No method claims more epsilon than it was asked for."),
}


def _different(setting: Setting, points: Any, others: Any, words: str) -> str | None:
    """The words, if two data sets are published differently.

    Every method publishes both with the same noise.
    """
    broken = []
    for name in setting.methods:
        releases = (_release(data, SMALL[name], rng=simulation_rng(SEED), public_size=100) for data in (points, others))
        first, second = (list(_released(release)) for release in releases)
        if not all(map(np.array_equal, first, second)):
            broken.append(name)
    return f"{words}. Methods: {', '.join(broken)}." if broken else None


def _release(points: Any, method: Any, *, epsilon: Fraction = Fraction(1), **arguments: Any) -> Synopsis:
    made: Synopsis = publish(points, domain=UNIT_SQUARE, epsilon=epsilon, method=method, calibrate=False, **arguments)
    return made


def _released(release: Synopsis) -> Iterator[Any]:
    """Everything that a release shows."""
    yield release.partition.bounds()
    yield release.counts
    yield release.measurements.leaves.values
    yield release.measurements.region_values.values


def _noise(release: Synopsis) -> Any:
    return release.measurements.leaves.values
