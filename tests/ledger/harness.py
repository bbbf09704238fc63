"""Processes that publish through a ledger: many at once, or one that is killed at any point.

Run as a script, so that its forks are copies of a process that does nothing else::

    python -m tests.ledger.harness race PLACE FOLDER PROCESSES EPSILON [PERIOD...]
    python -m tests.ledger.harness steps WHERE FOLDER STRIDE [PERIOD]
    python -m tests.ledger.harness times WHERE FOLDER KILLS

The first has so many processes ask one ledger at once, in turn for each of the periods, and prints their exit codes.
The others make a ledger for each kill, in a file of the folder or, if WHERE is a URL, in a schema of that server, and
print the places and outputs.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import hushgrid.ledger
from hushgrid.errors import HushgridError
from hushgrid.files import paths as new_file
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.request import Request
from hushgrid.ledger.reservation import CommittedRelease, commit_written
from hushgrid.periods import PeriodKind
from tests.ledger.places import ASKED, asked, file_place, in_period, new_ledger, schema_place

BUDGET = 2  # of a ledger that somebody is killed at: one release, and one more
PURE = {"book.py", "event.py", "request.py"}  # these touch nothing that outlives the process


def publish_once(place: str, request: Request, output: Path, *, new_release: bool = False) -> None:
    """Reserve, do some work, commit, and let the release appear."""
    with open_ledger(place) as ledger:
        answer = ledger.reserve(request, new_release=new_release)
        if isinstance(answer, CommittedRelease):
            answer.save(output)
            return
        answer.journal.record(1, "all cells at 1", os.urandom(64))
        content = json.dumps(vars(answer.mark)).encode() + os.urandom(5000)
        commit_written(answer, lambda out: out.write(content) and None, folder=output.parent).save(output)


def race(place: str, folder: Path, processes: int, epsilon: Fraction, periods: Sequence[str] = ()) -> list[int]:
    """Exit codes of processes that all ask at the same moment."""
    with open_ledger(place) as ledger:
        ledger.book()  # imports what is needed, so that the children need not
    gate, opener = os.pipe()

    def ask(number: int) -> None:
        os.close(opener)
        os.read(gate, 1)  # returns when the parent closes the other end
        period = in_period(periods[number % len(periods)]) if periods else None
        request = asked(epsilon=epsilon, period=period)
        publish_once(place, request, folder / f"{number}.dp.parquet", new_release=True)

    children = [forked(lambda number=number: ask(number)) for number in range(processes)]  # type: ignore[misc]
    os.close(opener)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def kill_at_steps(where: str, folder: Path, stride: int, period: str | None = None) -> Iterator[tuple[str, str]]:
    """A process killed at its first line of code that could matter, then one further on, until one gets through."""
    request = ASKED if period is None else asked(period=in_period(period))
    for step in range(1, 10_000, stride):
        place, output = fresh(where, folder, step, per=None if request.period is None else request.period.period.kind)

        def publish(place: str = place, output: Path = output, step: int = step) -> None:
            sys.settrace(killer(step))
            publish_once(place, request, output)

        status = os.waitstatus_to_exitcode(os.waitpid(forked(publish), 0)[1])
        assert status in (0, -signal.SIGKILL), status
        yield place, str(output)
        if status == 0:
            return


def kill_at_times(where: str, folder: Path, kills: int) -> Iterator[tuple[str, str]]:
    """Processes killed from outside, at evenly spaced moments of the time that one of them takes."""
    place, output = fresh(where, folder, 0)
    began = time.perf_counter()
    os.waitpid(forked(lambda: publish_once(place, ASKED, output)), 0)
    duration = time.perf_counter() - began
    for number in range(1, kills + 1):
        place, output = fresh(where, folder, number)
        child = forked(lambda place=place, output=output: publish_once(place, ASKED, output))  # type: ignore[misc]
        time.sleep(duration * number / kills)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        yield place, str(output)


def fresh(where: str, folder: Path, number: int, *, per: PeriodKind | None = None) -> tuple[str, Path]:
    """A new ledger, and a path for a release in a folder of its own."""
    own = folder / str(number)
    own.mkdir()
    place = schema_place(where, f"{folder.name}_{number}") if "://" in where else file_place(folder / str(number))
    (own / "out").mkdir()
    return new_ledger(place, budget=BUDGET, per=per), own / "out" / "trips.dp.parquet"


def forked(work: Callable[[], None]) -> int:
    """The process id of a child that does some work, and ends with the exit code of its error."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except HushgridError as error:
        code = error.exit_code
    finally:
        os._exit(code)


def killer(step: int) -> Callable[[FrameType, str, Any], Any]:
    """A trace function that kills the process at so many lines of code of the ledger."""
    packages = (str(Path(hushgrid.ledger.__file__).parent), str(Path(new_file.__file__)))
    left = step

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        file = frame.f_code.co_filename
        if not file.startswith(packages) or Path(file).name in PURE:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    return trace


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["race", place, folder, processes, epsilon, *periods]:
            json.dump(race(place, Path(folder), int(processes), Fraction(epsilon), periods), sys.stdout)
        case ["steps", where, folder, stride, *period]:
            json.dump(list(kill_at_steps(where, Path(folder), int(stride), *period)), sys.stdout)
        case ["times", where, folder, kills]:
            json.dump(list(kill_at_times(where, Path(folder), int(kills))), sys.stdout)
