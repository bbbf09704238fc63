"""A copy of this checkout as it stands, to change and run things in, and how processes of it start."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
TYPES = ".mypy_cache"


def with_usual_signals() -> None:
    """Let a process about to start be stopped as usual; the tests may run under nohup, which children inherit."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def copy_checkout(folder: Path) -> Path:
    """The files that git knows or would add, copied with their times."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    for path in sorted({Path(name) for name in names if name}):
        if (ROOT / path).is_file():  # one that was deleted is still listed
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, folder / path)
    return folder


def copy_caches(folder: Path) -> None:
    """Compiled kernels and checked types, which go by the times of files and so hold in a copy too."""
    for cache in ROOT.joinpath("src").rglob("__pycache__"):
        shutil.copytree(cache, folder / cache.relative_to(ROOT), ignore=_all_but_kernels)
    if (ROOT / TYPES).exists():
        shutil.copytree(ROOT / TYPES, folder / TYPES)


def _all_but_kernels(_folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith((".nbi", ".nbc"))]


def run_in(folder: Path, *command: str | Path) -> str:
    """What a command of this environment prints in a copy; the copy's package goes before the installed one."""
    settings = {"PYTHONPATH": str(folder / "src"), "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout
