"""The wheel, the sdist, and an environment with the core alone."""

import sys
from pathlib import Path

import pytest

from tests.checkout import copy_checkout
from tests.packaging.environment import CORE, Environment, run
from tests.packaging.shared import shared_folder


def build(source: Path, folder: Path) -> None:
    """The wheel of a source tree."""
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--wheel-dir", folder)
    run(sys.executable, "-m", "pip", "wheel", *options, source, cwd=folder)


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """A copy of this checkout, which nobody edits meanwhile."""
    return shared_folder(tmp_path_factory, "source", copy_checkout)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory, source):
    """The wheel of this checkout."""
    (built,) = shared_folder(tmp_path_factory, "wheel", lambda folder: build(source, folder)).glob("*.whl")
    return built


@pytest.fixture(scope="session")
def sdist(tmp_path_factory, source):
    """The sdist of this checkout."""

    def make(folder: Path) -> None:
        run(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", folder, cwd=source)

    (built,) = shared_folder(tmp_path_factory, "sdist", make).glob("*.tar.gz")
    return built


@pytest.fixture(scope="session")
def core(tmp_path_factory, wheel):
    """An environment with the wheel and what it cannot do without."""

    def make(folder: Path) -> None:
        environment = Environment.made(folder / "core")
        environment.install("--require-hashes", "-r", CORE)
        environment.install("--no-deps", wheel)

    return Environment(shared_folder(tmp_path_factory, "environments", make) / "core")


@pytest.fixture(scope="session")
def release(tmp_path_factory, core):
    """A release made by the core, of points on a diagonal."""

    def make(folder: Path) -> None:
        (folder / "points.csv").write_text("lon,lat\n" + "".join(f"{n / 500},{n / 500}\n" for n in range(500)))
        arguments = ("--domain", "0,0,1,1", "--epsilon", "1", "--method", "ag", "-o", "points.dp.parquet")
        core.hushgrid("publish", "points.csv", *arguments, cwd=folder)

    return shared_folder(tmp_path_factory, "release", make) / "points.dp.parquet"
