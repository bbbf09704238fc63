"""The wheel, installed alone in a clean environment, does the main job."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def run(*command, cwd):
    """Run a command; what it printed is shown if it fails."""
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    run(sys.executable, "-m", "pip", *build, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_is_complete(wheel):
    """Types, bundled data and its attribution, licence; no tests."""
    names = zipfile.ZipFile(wheel).namelist()

    for part in ("hushgrid/py.typed", "hushgrid/data/places.parquet", "hushgrid/data/ATTRIBUTION.md"):
        assert part in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert all(name.startswith(("hushgrid/", "hushgrid-")) for name in names)


def test_the_wheel_works_without_development_tools(wheel, tmp_path):
    """Core requirements alone: the demo runs, and its file reads back."""
    run(sys.executable, "-m", "venv", tmp_path / "clean", cwd=tmp_path)
    python = tmp_path / "clean" / "bin" / "python"
    install = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*install, "--require-hashes", "-r", ROOT / "requirements.lock", cwd=tmp_path)
    run(*install, "--no-deps", wheel, cwd=tmp_path)
    command = python.with_name("hushgrid")

    assert "places.dp.parquet" in run(command, "demo", cwd=tmp_path)
    assert "epsilon" in run(command, "describe", "--json", "hushgrid-demo/places.dp.parquet", cwd=tmp_path)
    run(command, "verify", "hushgrid-demo/places.dp.parquet", cwd=tmp_path)
