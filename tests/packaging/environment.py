"""Environments of their own, with nothing of the one that the tests run in."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORE = ROOT / "requirements.lock"
EVERYTHING = ROOT / "requirements-test.lock"


def run(*command: str | Path, cwd: Path, code: int = 0) -> str:
    """What a command prints, errors too, if it ends with the code; a clean environment hears nothing of this one's."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=settings, capture_output=True, text=True)
    assert done.returncode == code, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@dataclass(frozen=True)
class Environment:
    """An environment without pip, to which the tests' own pip installs."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> "Environment":
        """A new one, empty."""
        run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
        return cls(folder)

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        """Where it has its packages."""
        (found,) = self.folder.glob("lib/python3.*/site-packages")
        return found

    def install(self, *what: str | Path) -> None:
        """Install what pip is told to."""
        pip = (sys.executable, "-m", "pip", "--python", self.python, "install", "--quiet")
        run(*pip, "--disable-pip-version-check", "--no-compile", *what, cwd=self.folder)

    def extended(self, folder: Path) -> "Environment":
        """A new one that has all packages of this one too, without a copy of them."""
        more = Environment.made(folder)
        (more.packages / "core.pth").write_text(f"{self.packages}\n")
        return more

    def hushgrid(self, *arguments: str | Path, cwd: Path, code: int = 0) -> str:
        """What a hushgrid command of this environment prints."""
        return run(self.python, "-m", "hushgrid", *arguments, cwd=cwd, code=code)


def pins() -> str:
    """The version of everything, as constraints: the lock without its hashes, which a wheel made here has none of."""
    lines = (re.sub(r" *\\$", "", line) for line in EVERYTHING.read_text().splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith((" ", "#")))
