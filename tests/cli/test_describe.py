"""`hushgrid describe`: what a release is and promises."""

import json
import re
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hushgrid as hg
from hushgrid.methods.staq import Staq
from tests.cli.commands import DOMAIN, Run


def described(run: Run, file: Path) -> dict[str, str]:
    """The texts of `hushgrid describe`, by their labels, each on one line."""
    text = run("describe", file).stdout
    fields = re.split(r"\n(?! )", text.rstrip())
    return {field[:11].strip(): " ".join(field[11:].split()) for field in fields}


def test_everything_is_said_in_words(run: Run, release: Path) -> None:
    """File, domain, method and why, structure, size, total, guarantee and budget."""
    said, synopsis = described(run, release), hg.read(release)

    assert said["file"] == f"{release}, written by hushgrid {version('hushgrid')}"
    assert said["domain"] == "west -74.26, south 40.48, east -73.7, north 40.92 (OGC:CRS84)"
    assert said["method"].startswith("staq, inference belief")
    assert "asked for: auto" in said["method"]
    assert synopsis.method.notes[0] in said["method"]
    assert said["structure"].startswith(f"tree of {len(synopsis.partition.levels) - 1} levels, ")
    assert said["structure"].endswith(f"{synopsis.partition.cells:,} leaf cells")
    assert "noisy number of rows" in said["sized by"]
    assert f"at most {Staq.most_cells:,} cells" in said["sized by"]
    assert said["total"].startswith(f"about {round(synopsis.total):,} points")
    assert "95 % confidence" in said["total"]
    assert said["guarantee"] == synopsis.claim.sentence
    assert said["budget"] == "epsilon 1: size 0.01, counts 0.99"


def test_json_holds_the_same_values(run: Run, release: Path) -> None:
    """Every value comes back through a JSON parser as the library has it."""
    result = run("describe", release, "--json")

    parsed, synopsis = json.loads(result.stdout), hg.read(release)
    total = synopsis.answer(DOMAIN.bounds)
    assert result.stderr == ""
    assert parsed["library"] == version("hushgrid")
    assert hg.Domain(**parsed["domain"]) == DOMAIN
    assert parsed["method"]["chosen"] == "staq"
    assert parsed["method"]["asked"] == "auto"
    assert parsed["structure"]["cells"] == synopsis.partition.cells
    assert [parsed["total"][name] for name in ("estimate", "low", "high")] == [total.estimate, total.low, total.high]
    assert parsed["claim"]["exact_epsilon"] == "1"
    assert [spend["exact_epsilon"] for spend in parsed["claim"]["spends"]] == ["1/100", "99/100"]
    assert parsed["calibration"]["factors"] == [list(factors) for factors in synopsis.calibration.factors]


def test_a_uniform_grid_is_described_too(run: Run, tmp_path: Path) -> None:
    """Its side, and no level it does not have."""
    path = tmp_path / "ug.parquet"
    hg.publish([[0.5, 0.5]], domain=DOMAIN, epsilon=1, method=hg.UniformGrid(side=7)).save(path)

    said = described(run, path)
    assert said["structure"] == "grid 7 x 7, 49 cells"
    assert said["sized by"] == "the method's parameters"
    assert said["budget"] == "epsilon 1: counts 1"


def test_a_noisy_size_is_never_shown_and_a_public_one_is(points: pa.Table) -> None:
    """The noisy figure sizes the grid and is no total; a declared one is public anyway."""
    rng = hg.simulation_rng(1)
    noisy = hg.describe(hg.publish(points, domain=DOMAIN, epsilon=1, rng=rng)).to_dict()
    public = hg.describe(hg.publish(points, domain=DOMAIN, epsilon=1, public_size=40_000, rng=rng)).to_dict()

    assert noisy["size"] == {"source": "rows", "value": None}
    assert public["size"] == {"source": "public", "value": 40_000}


def test_a_clamped_size_is_told(run: Run, release: Path, tmp_path: Path) -> None:
    """What the method noted about its sizes reaches the reader."""
    path, noted = tmp_path / "clamped.parquet", "the guideline's side of 5,000 was clamped to 4,096"
    synopsis = hg.read(release)
    replace(synopsis, method=replace(synopsis.method, notes=(noted,))).save(path)

    assert noted in described(run, path)["method"]


@pytest.mark.parametrize(
    ("method", "words"),
    [("quadtree", "tree of "), ("dag", "groups"), ("kd", "selection 0.099 in "), ("privlet", "grid ")],
)
def test_every_structure_is_put_in_words(run: Run, tmp_path: Path, method: str, words: str) -> None:
    """Trees by their levels, groups by their number, repeated spends as one."""
    points = np.random.default_rng(0).random((500, 2))
    domain = hg.Domain(west=0, south=0, east=1, north=1)
    hg.publish(points, domain=domain, epsilon=1, method=method).save(tmp_path / "release.dp.parquet")

    assert words in " ".join(run("describe", str(tmp_path / "release.dp.parquet")).stdout.split())
