"""Whether anything but released values shows, and their cost.

The draws of a release are recorded on one data set and forced on the others. Then every byte of every release must be
the same: whatever differs was decided by true counts. And the true values that neighbours put into the same draws say
exactly what these draws cost.
"""

import hashlib
import importlib
import io
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.audit.check import Check, Experiment, Setting, Verdict
from hushgrid.audit.handing import Handed, NotHereError
from hushgrid.audit.held import held
from hushgrid.audit.neighbours import UNIT_SQUARE, Family
from hushgrid.audit.replays import overheard
from hushgrid.audit.routes import Route, every_route, new_account
from hushgrid.audit.transcript import (
    TOLERANCE,
    Draw,
    Policy,
    Script,
    instrumented,
    loss,
    same_values,
    with_other_sizes,
)
from hushgrid.files.release import write_to
from hushgrid.privacy.bits import Bits
from hushgrid.release.publish import publish
from hushgrid.slices.files import write_slices_to
from hushgrid.slices.slices import Slices, read_saved
from hushgrid.synopsis.synopsis import Synopsis

RECTANGLES = np.array([[0.0, 0.0, 1.0, 1.0], [0.05, 0.05, 0.3, 0.4], [0.6, 0.1, 0.97, 0.8], [0.0, 0.0, 0.125, 0.2]])
HELD = "what the release holds"
Use = Callable[[Script | None], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """All that one release shows, and its draws.

    `parts` holds what could be seen, by name.
    """

    parts: dict[str, bytes]
    draws: tuple[Draw, ...]
    claim: float = 0.0
    trouble: str | None = None


class ScriptedRoute:
    """A route with its data sets in place.

    Releases are made on it under a script.
    """

    def __init__(self, route: Route, setting: Setting, use: Use, folder: Path, stack: ExitStack) -> None:
        self.route = route
        self._epsilon = setting.epsilon
        self._inner: Bits = setting.bits
        self._use = use
        self._folder = folder
        self._stack = stack
        self._handed: dict[str, Handed] = {}
        self._runs = 0

    def record(self, name: str, policy: Policy) -> Seen:
        """Release a data set and record its draws."""
        return self._release(name, Script(self._inner, policy=policy))

    def repeat(self, name: str, draws: Sequence[Draw]) -> Seen:
        """Release a data set with another's draws."""
        return self._release(name, Script(self._inner, given=draws))

    def _release(self, name: str, script: Script) -> Seen:
        points, more = self._points(name)
        self._runs += 1
        ledger = self._folder / f"ledger-{self._runs}" if self.route.ledger else None
        told: list[float] = []
        with overheard() as said, _kept_journals() as journal:
            options: dict[str, Any] = {"progress": told.append}
            if ledger is not None:
                options |= new_account(ledger, of_users=self.route.of_users)
            self._use(script)
            try:
                if self.route.command is not None:
                    release, files = self._command(points)
                else:
                    options |= {"epsilon": self._epsilon, "calibrate": self.route.calibrate}
                    release = publish(points, domain=UNIT_SQUARE, **{**self.route.arguments, **more, **options})
                    files = {}
                script.finish()
            except Exception as error:  # noqa: BLE001  # any error is a finding
                stopped = script.diverged or f"a release stopped with {type(error).__name__}: {error}"
                return Seen(parts={}, draws=tuple(script.draws), trouble=stopped)
            finally:
                self._use(None)
        printed = said.getvalue().replace(str(self._folder), "")
        parts = {
            "what was printed": printed.encode(),
            "the progress": repr(told).encode(),
            "the journal": repr(journal).encode(),
            **files,
            **_shown(release),
        }
        if ledger is not None:
            parts["the ledger"] = _entries(ledger)
        trouble = script.diverged or ("noise came from another generator" if script.foreign else None)
        return Seen(parts=parts, draws=tuple(script.draws), claim=float(release.claim.epsilon), trouble=trouble)

    def _command(self, points: Path) -> tuple[Synopsis | Slices, dict[str, bytes]]:
        """Release by the command, and collect its files."""
        main = importlib.import_module("hushgrid.cli").main  # by name, because commands import the audit
        folder = self._folder / "written"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        output = folder / "release.dp.parquet"
        options = ["--domain", "0,0,1,1", "--epsilon", str(self._epsilon), "--no-calibrate", "-o", str(output)]
        code: object = 0
        try:
            main.main(["publish", str(points), *options, *(self.route.command or ())], prog_name="hushgrid")
        except SystemExit as end:
            code = end.code
        written = {f"the file {path.name}": path.read_bytes() for path in sorted(folder.iterdir())}
        return read_saved(output), {"the exit code": str(code).encode(), **written}

    def _points(self, name: str) -> Handed:
        if name not in self._handed:
            folder = self._folder / f"set-{len(self._handed)}"
            folder.mkdir()
            self._handed[name] = self.route.handed(self.route.family.sets[name], folder, self._stack)
        return self._handed[name]


@dataclass(kw_only=True)
class Findings:
    """What was found on a route so far."""

    tainted: str | None = None
    overspent: str | None = None
    largest: float = 0.0
    claim: float = 0.0
    releases: int = 0

    def taint(self, words: str) -> None:
        """Remember the first finding."""
        self.tainted = self.tainted or words

    def overspend(self, words: str) -> None:
        """Remember the first finding."""
        self.overspent = self.overspent or words


def taint_experiments(setting: Setting) -> Iterator[Experiment]:
    """One experiment for every route."""
    for route in every_route(setting.methods):
        yield Experiment(
            title=f"exact: {route.method}, {route.title}",
            statistical=0,
            run=partial(_checks, route, setting),
            weight=3.0 if route.calibrate else 1.0,
            group="Spark" if route.needs == "pyspark" else None,
        )


def _checks(route: Route, setting: Setting, _error: float) -> tuple[Check, ...]:
    try:
        found = examine(route, setting)
    except NotHereError as reason:
        finding = f"Not looked at: {reason}."
        return tuple(_check(part, route, Verdict.NOT_APPLICABLE, finding) for part in ("taint", "loss"))
    taint = _check(
        "taint",
        route,
        Verdict.FLAGGED if found.tainted else Verdict.PASSED,
        found.tainted or "With the same values released, every byte is the same, whatever the data.",
        runs=found.releases,
    )
    spent = _check(
        "loss",
        route,
        Verdict.FLAGGED if found.overspent else Verdict.PASSED,
        found.overspent or "No pair of neighbours can be told apart by more than is claimed.",
        runs=found.releases,
        claim=float(setting.epsilon),
        measured=found.largest,
    )
    return taint, spent


def _check(part: Any, route: Route, verdict: Verdict, finding: str, **figures: Any) -> Check:
    return Check(part=part, title=route.title, method=route.method, verdict=verdict, finding=finding, **figures)


def examine(route: Route, setting: Setting) -> Findings:
    """Record draws, force them on all sets, and compare.

    Compared are what shows and what it costs.
    """
    found = Findings(claim=float(setting.epsilon))
    family = route.family.some() if setting.quick and route.sets == "all" else route.family
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack, instrumented() as use:
        scripted = ScriptedRoute(route, setting, use, Path(folder), stack)
        _examine_one(scripted, family, family.start, "exact", found)
        if route.sets != "few" and not setting.quick:
            _examine_one(scripted, family.some(), family.start, "real", found)
        if route.sets == "all":
            _examine_one(scripted, family.few() if setting.quick else family.some(), family.start, "above", found)
            for name in family.recorded[1:]:
                _examine_one(scripted, family.some(), name, "exact", found)
    return found


def _examine_one(scripted: ScriptedRoute, family: Family, name: str, policy: Policy, found: Findings) -> None:
    """Record one release and force it on a family."""
    if found.tainted:
        return
    original = scripted.record(name, policy)
    found.releases += 1
    if original.trouble is not None:
        found.taint(f"On the data set '{name}', {original.trouble}.")
        return
    if original.claim > found.claim + TOLERANCE:
        found.overspend(f"A release claims epsilon {original.claim:g}, where {found.claim:g} was asked for.")
    repeated: dict[str, Seen] = {}
    for other in family.sets:
        seen = repeated[other] = scripted.repeat(other, original.draws)
        found.releases += 1
        different = seen.trouble or _difference(original.parts, seen.parts)
        if different is not None:
            found.taint(f"With the values released on '{name}' forced on '{other}', it shows: {different}.")
            return
    _add_up(scripted, family, name, original, repeated, found)


def _add_up(
    scripted: ScriptedRoute, family: Family, name: str, original: Seen, repeated: dict[str, Seen], found: Findings
) -> None:
    """Add up what draws cost each pair."""
    pairs = [(pair, repeated[pair.first].draws, repeated[pair.second].draws) for pair in family.pairs]
    by_sign: frozenset[int] = frozenset()
    if any(loss(first, second) > original.claim + TOLERANCE for _, first, second in pairs):
        by_sign = _shown_by_sign(scripted, name, original)
    for pair, first, second in pairs:
        if pair.same and not same_values(first, second):
            found.overspend(f"'{pair.first}' and '{pair.second}' hold the same records, and are counted differently.")
        spent = loss(first, second, by_sign=by_sign)
        found.largest = max(found.largest, spent)
        if spent > original.claim + TOLERANCE:
            found.overspend(
                f"What was released tells '{pair.first}' from '{pair.second}' by {spent:.4g}, where at most "
                f"{original.claim:.4g} is claimed."
            )


def _shown_by_sign(scripted: ScriptedRoute, name: str, original: Seen) -> frozenset[int]:
    """Draws of which nothing shows but the sign.

    Their size can be changed without a byte changing.
    """
    quiet = set()
    for number, draw in enumerate(original.draws):
        if draw.kind == "noise" and all(
            _difference(original.parts, scripted.repeat(name, changed).parts) is None
            for changed in with_other_sizes(original.draws, number)
        ):
            quiet.add(number)
    return frozenset(quiet)


def _shown(release: Synopsis | Slices) -> dict[str, bytes]:
    """The file, texts and answers of a release."""
    out = io.BytesIO()
    if isinstance(release, Slices):
        write_slices_to(release, out)
        notes = [note for _, part in release.all_parts() for note in part.method.notes]
    else:
        write_to(release, out)
        notes = list(release.method.notes)
    answer = release.answer(RECTANGLES)
    numbers = [np.asarray(getattr(answer, name)) for name in ("estimate", "low", "high", "usable")]
    text = "\n".join([repr(release), release.claim.sentence, *notes])
    return {
        "the file": out.getvalue(),
        "the description": text.encode(),
        "an answer": b"".join(part.tobytes() for part in numbers),
        HELD: held(release),
    }


def _difference(first: dict[str, bytes], second: dict[str, bytes]) -> str | None:
    """The first part that differs.

    Of a file, the differing column or key is named, and of an object the way to what differs.
    """
    for name, content in first.items():
        other = second.get(name, b"")
        if other != content and name == "the file":
            return _file_difference(content, other)
        if other != content and name == HELD:
            return _held_difference(content, other)
        if other != content:
            return f"{name} differs"
    return None


def _held_difference(first: bytes, second: bytes) -> str:
    """The way to the first value that differs."""
    pairs = zip_longest(first.decode().splitlines(), second.decode().splitlines(), fillvalue="")
    ways = next((one.partition(": ")[0], other.partition(": ")[0]) for one, other in pairs if one != other)
    return f"{HELD} ({ways[0] or ways[1]}) differs"


def _file_difference(first: bytes, second: bytes) -> str:
    tables = [
        pq.ParquetFile(pa.BufferReader(content), pre_buffer=False).read(use_threads=False)
        for content in (first, second)
    ]
    if tables[0].num_rows != tables[1].num_rows:
        return "the number of rows of the file differs"
    for column in tables[0].column_names:
        if not tables[0][column].equals(tables[1][column]):
            return f"the column {column} of the file differs"
    keys = [pq.read_metadata(pa.BufferReader(content)).metadata or {} for content in (first, second)]
    for key, value in keys[0].items():
        if keys[1].get(key) != value:
            return f"the metadata {_key_difference(key, value, keys[1].get(key, b''))} of the file differs"
    return "the file differs"


def _key_difference(key: bytes, first: bytes, second: bytes) -> str:
    try:
        one, other = json.loads(first), json.loads(second)
        fields = [name for name in one if one[name] != other.get(name)] + [name for name in other if name not in one]
    except (ValueError, AttributeError, TypeError):
        fields = []
    return f"{key.decode()} ({', '.join(fields)})" if fields else key.decode()


def _entries(path: Path) -> bytes:
    """What a ledger says about its entries.

    Hashes of points, by which a run is resumed, are the steward's and are left out.
    """
    with sqlite3.connect(path) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for name in tables for row in connection.execute(f'SELECT * FROM "{name}"')]  # noqa: S608
    texts = [str(value) for row in rows for value in row if isinstance(value, str)]
    return "\n".join(text for text in texts if '"request"' in text or '"budget"' in text).encode()


@contextmanager
def _kept_journals() -> Iterator[list[str]]:
    """Collect what journals keep, with the clock stopped.

    What they keep about the state of the points is left out.
    """
    from hushgrid.ledger import event
    from hushgrid.ledger.reservation import LedgerJournal

    kept: list[str] = []
    original, clock = LedgerJournal.record, vars(event)["datetime"]

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Clock":
            return cls(2000, 1, 1, tzinfo=tz)

    def record(self: Any, number: int, *rest: Any) -> Any:
        if number > 0:
            kept.append(" ".join([str(number), *(hashlib.sha256(str(part).encode()).hexdigest() for part in rest)]))
        return original(self, number, *rest)

    setattr(LedgerJournal, "record", record)  # noqa: B010  # a stand-in of any signature
    vars(event)["datetime"] = Clock
    try:
        yield kept
    finally:
        setattr(LedgerJournal, "record", original)  # noqa: B010
        vars(event)["datetime"] = clock
