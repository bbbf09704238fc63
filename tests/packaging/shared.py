"""Things that take long to make, made once however many processes run the tests."""

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def shared_folder(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first process to ask for it fills, while others wait."""
    workers = factory.getbasetemp()
    # Under pytest-xdist every process has a base of its own inside that of the run.
    run = workers.parent if workers.name.startswith("popen-") else workers
    folder, done = run / name, run / f"{name}.done"
    with (run / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)  # what an attempt that failed left
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
