"""The wheel and the sdist are complete, and the wheel alone does the main job in a clean environment."""

import re
import sys
import tarfile
import tomllib
import zipfile

import pytest

from tests.packaging.conftest import build
from tests.packaging.environment import ROOT, run

pytestmark = pytest.mark.slow

DATA = {
    *("py.typed", "data/places.parquet", "data/names.parquet", "data/ATTRIBUTION.md"),
    *("web/assets/page.html", "web/assets/styles/page.css"),
}


def package_files(source):
    """Every file of the package, from the folder that holds it."""
    found = (path.relative_to(source / "src").as_posix() for path in (source / "src").rglob("*") if path.is_file())
    return {name for name in found if "__pycache__" not in name}


def contents(wheel):
    """What every file of a wheel holds, by its name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_has_every_file_of_the_package(wheel, source):
    """Modules, types, bundled data, the page's scripts and maps; nothing but the package and its metadata."""
    names = set(contents(wheel))

    assert {f"hushgrid/{name}" for name in DATA} <= package_files(source) <= names
    assert all(name.startswith(("hushgrid/", "hushgrid-")) for name in names)
    assert not [name for name in names if "__pycache__" in name]


def test_the_wheel_has_every_licence(wheel, source):
    """Ours and those of what is bundled, as the project states them."""
    stated = tomllib.loads((source / "pyproject.toml").read_text())["project"]["license-files"]
    held = {name.split("/licenses/")[1]: text for name, text in contents(wheel).items() if "/licenses/" in name}

    assert {name: (source / name).read_bytes() for name in stated} == held
    assert len(held) > 3


def test_every_bundled_work_has_its_licence_beside_it():
    """Each folder of other people's files in the package."""
    bundled = {path.parent for path in (ROOT / "src").rglob("*.json.gz")} | {
        path.parent for path in (ROOT / "src").rglob("leaflet.js")
    }

    assert len(bundled) == 2
    assert all((folder / "LICENSE").exists() for folder in bundled)


def test_the_sdist_makes_the_same_wheel(wheel, sdist, tmp_path):
    """Byte for byte in every file."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    (tmp_path / "wheel").mkdir()
    build(unpacked, tmp_path / "wheel")
    (again,) = (tmp_path / "wheel").glob("*.whl")

    assert contents(again) == contents(wheel)


def test_the_sdist_has_nothing_private(sdist):
    """Source, readme, changelog and licence; no data, results, tests or locks."""
    with tarfile.open(sdist) as archive:
        tops = {name.split("/")[1] for name in archive.getnames()}

    assert tops <= {"src", "README.md", "CHANGELOG.md", "LICENSE", "PKG-INFO", "pyproject.toml", ".gitignore"}


def test_the_core_alone_runs_the_demo(core, tmp_path):
    """It publishes, asks and draws a map that holds all it needs; its file reads back and is whole."""
    assert "places.dp.parquet" in core.hushgrid("demo", cwd=tmp_path)
    page = (tmp_path / "hushgrid-demo" / "map.html").read_text()

    assert "epsilon" in core.hushgrid("describe", "--json", "hushgrid-demo/places.dp.parquet", cwd=tmp_path)
    core.hushgrid("verify", "hushgrid-demo/places.dp.parquet", cwd=tmp_path)
    core.hushgrid("manifest", "hushgrid-demo/places.dp.parquet", "-o", "s.html", "--language", "fr", cwd=tmp_path)
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"(?!data:|#)", page)
    assert "Leaflet" in page


def test_the_core_alone_reads_and_answers(core, release, tmp_path):
    """By the installed command as by the module."""
    asked = ("query", release, "--rect", "0,0,0.5,0.5", "--json")

    assert run(core.folder / "bin" / "hushgrid", *asked, cwd=tmp_path) == core.hushgrid(*asked, cwd=tmp_path)


def test_types_are_seen_by_a_checker_from_the_installed_package(core, tmp_path):
    """Without py.typed, mypy would call every one of them Any; matplotlib is not there, and only its names are."""
    (tmp_path / "usage.py").write_text(
        "import hushgrid as hg\nfrom typing import assert_type\n"
        'assert_type(hg.read("x").domain, hg.Domain)\nhg.publish("x", epsilon=1)\n'
    )
    checker = (sys.executable, "-m", "mypy", "--strict", "--python-executable", core.python, "usage.py")
    printed = run(*checker, cwd=tmp_path, code=1)

    assert re.findall(r"usage\.py:(\d+): error: .*\[([\w-]+)\]", printed) == [("4", "call-overload")]
