"""`hushgrid publish --dataset` in processes that are killed at any time.

Run as a script, so that its forks are copies of a process that does nothing else::

    python -m tests.ledger.publish_harness POINTS FOLDER KILLS

Makes a ledger for each process, in a folder of its own, kills the processes at evenly spaced moments of the time that
one of them takes, and prints for each the folder and the exit code.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from hushgrid.cli import main
from hushgrid.files import release as file
from hushgrid.ledger.ledger import open_ledger
from hushgrid.release import on_ledger
from hushgrid.release import request as job

IMPORTED = (on_ledger, job, file)  # what the children need, so that they need not import it
LEDGER, OUTPUT = "hushgrid.ledger", "out/trips.dp.parquet"


def arguments(points: str, folder: Path) -> list[str]:
    """Those of the command, which are the same request in every folder."""
    given = ["--domain", "0,0,1,1", "--epsilon", "1", "--method", "ag", "--dataset", "trips"]
    return ["publish", points, *given, "--ledger", str(folder / LEDGER), "-o", str(folder / OUTPUT)]


def started(points: str, folder: Path) -> int:
    """The process id of a child that publishes, on a new ledger."""
    (folder / "out").mkdir(parents=True)
    with open_ledger(folder / LEDGER, create=True) as ledger:
        ledger.add_dataset("trips", budget=2, unit="record")
    child = os.fork()
    if child:
        return child
    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # until the child ends
    code = 1
    try:
        main(arguments(points, folder))
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        os._exit(code)


def killed(points: str, folder: Path, kills: int) -> Iterator[tuple[str, int]]:
    """Folders and exit codes of processes that were killed, after that of one that was not."""
    began = time.perf_counter()
    status = os.waitpid(started(points, folder / "0"), 0)[1]
    duration = time.perf_counter() - began
    yield str(folder / "0"), os.waitstatus_to_exitcode(status)
    for number in range(1, kills + 1):
        child = started(points, folder / str(number))
        time.sleep(duration * number / kills)
        os.kill(child, signal.SIGKILL)
        yield str(folder / str(number)), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    _, points, folder, kills = sys.argv
    json.dump(list(killed(points, Path(folder), int(kills))), sys.stdout)
