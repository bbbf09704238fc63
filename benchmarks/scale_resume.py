"""A release that is killed midway and goes on: `python -m benchmarks.scale_resume FOLDER [METHOD]`.

FOLDER holds points as `make_points` writes them. `hushgrid publish` runs on a ledger and is killed, as by a power cut,
a second after it has recorded so many measurements that half of its passes are done; then `--resume` goes on with it.
Checked are that nothing was shown before the end, that the ledger was charged once, and that what was recorded before
the kill is what the release is made of.
"""

import json
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

import hushgrid as hg
from benchmarks.make_points import DOMAIN
from hushgrid.ledger.ledger import open_ledger
from hushgrid.ledger.store import journal_holder

EPSILON = "0.01"
RECORDED = {"ug": 2, "ag": 3, "staq": 7}  # measurements before the kill; the state of the points and the size are two


def command(points, method, folder, *more):
    """The command line of a release."""
    bounds = ",".join(map(str, DOMAIN.bounds))
    given = ["publish", points, f"--domain={bounds}", "--epsilon", EPSILON, "--method", method, "--no-calibrate"]
    place = ["--ledger", folder / "points.ledger", "--dataset", "points", "-o", folder / "points.dp.parquet"]
    return [sys.executable, "-m", "hushgrid", *given, *place, *more]


def measurements(place):
    """What the journal of the first entry holds, by number."""
    with open_ledger(place) as ledger:
        numbers = ledger.book().journals.get(1, {})
        with ledger._store.reading() as transaction:  # noqa: SLF001  # nobody else asks what a journal holds
            return {number: b"".join(transaction.parts(journal_holder(1, number))) for number in numbers}


def killed(points, method, folder):
    """Seconds until the kill, and what had been recorded by then."""
    start = time.perf_counter()
    with subprocess.Popen(command(points, method, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while len(measurements(folder / "points.ledger")) < RECORDED[method]:
            assert run.poll() is None
            time.sleep(0.5)
        time.sleep(1)
        run.kill()
    return time.perf_counter() - start, measurements(folder / "points.ledger")


def resumed(points, method, folder):
    """Seconds that the rest takes."""
    start = time.perf_counter()
    subprocess.run(command(points, method, folder, "--resume", "1"), check=True, capture_output=True)
    return time.perf_counter() - start


def measure(points, method):
    """The row of one release that was killed and went on."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with open_ledger(folder / "points.ledger", create=True) as ledger:
            ledger.add_dataset("points", budget=1, unit="record")
        until_killed, recorded = killed(points, method, folder)
        assert not (folder / "points.dp.parquet").exists()
        rest = resumed(points, method, folder)
        synopsis = hg.read(folder / "points.dp.parquet")
        with open_ledger(folder / "points.ledger") as ledger:
            book = ledger.book()
            assert ledger.verify().ok
        assert [entry.charged for entry in book.entries.values()] == [Fraction(EPSILON)]
        if method == "ag":
            assert np.frombuffer(recorded[2], "<i8").tolist() == synopsis.measurements.region_values.values.tolist()
    return {
        "method": method,
        "points": points.name,
        "recorded_before_the_kill": len(recorded),
        "bytes_recorded": sum(map(len, recorded.values())),
        "seconds_until_the_kill": until_killed,
        "seconds_of_the_rest": rest,
        "measurements_in_all": len(book.journals[1]),
    }


if __name__ == "__main__":
    _, points, *rest = sys.argv
    print(json.dumps(measure(Path(points), *(rest or ["ag"]))))
