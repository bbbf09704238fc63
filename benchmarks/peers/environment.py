"""The environments of the peers: one each, made once from its part of the lock."""

import subprocess
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".peers"
HUSHGRID = "hushgrid"
HEADING = "# environment: "


def requirements(name: str) -> str:
    """The pinned requirements of an environment."""
    if name == HUSHGRID:
        return (ROOT / "requirements.lock").read_text()
    _, *parts = (ROOT / "requirements-peers.lock").read_text().split(HEADING)
    return dict(part.split("\n", 1) for part in parts)[name]


def interpreter(name: str) -> Path:
    """Python of an environment, which is made anew if its requirements have changed."""
    folder = FOLDER / name
    python, made_of = folder / "bin" / "python", folder / "requirements.txt"
    if not made_of.exists() or made_of.read_text() != requirements(name):
        venv.create(folder, clear=True, with_pip=True)
        wanted = folder / "wanted.txt"
        wanted.write_text(requirements(name))
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--require-hashes", "-r", str(wanted)], check=True)
        if name == HUSHGRID:
            subprocess.run([*install, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], check=True)
        wanted.rename(made_of)
    return python
