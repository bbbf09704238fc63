"""The pictures of the documentation are drawn by the code, and each is shown somewhere."""

import re
from pathlib import Path

import pytest
from matplotlib import rc_context

from docs.pictures.__main__ import HOURS, IMAGES, PICTURES, RELEASES, SHARPENED
from docs.pictures.known import WITH_USERS, draw_known, set_at_hand
from docs.pictures.look import LOOK, save, save_small
from docs.pictures.sharpened import NAME as PRIVATE
from docs.pictures.sharpened import draw_sharpened

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]


def test_every_picture_that_is_drawn_is_kept() -> None:
    """A picture without its file would leave a hole in a page."""
    assert {f"{name}.png" for name in (*PICTURES, *RELEASES, SHARPENED, *HOURS)} <= {
        path.name for path in IMAGES.iterdir()
    }


def test_every_picture_that_is_kept_is_shown() -> None:
    """Every picture in the folder is on some page."""
    shown = {Path(link).name for page in PAGES for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text())}
    assert {path.name for path in IMAGES.iterdir()} <= shown


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_can_be_drawn_anew(name: str, tmp_path: Path) -> None:
    """The code draws the picture that is kept, from the same seeds: same size, and nearly the same ink."""
    from matplotlib.image import imread

    with rc_context(LOOK):
        save(PICTURES[name](), tmp_path / "anew.png")
    kept, anew = imread(IMAGES / f"{name}.png"), imread(tmp_path / "anew.png")
    assert kept.shape == anew.shape
    assert abs(float(kept.mean()) - float(anew.mean())) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("picture", [*RELEASES, SHARPENED, *HOURS])
def test_a_release_looks_the_same_with_other_noise(picture: str, tmp_path: Path) -> None:
    """The picture that is kept has the size and about the ink of a fresh one, and is small."""
    from matplotlib.image import imread

    name, budget = RELEASES.get(picture, (WITH_USERS if picture in HOURS else PRIVATE, ""))
    if not set_at_hand(name):
        pytest.skip(f"HUSHGRID_DATA names no folder with {name}.parquet")
    with rc_context(LOOK):
        draw = HOURS.get(picture, draw_sharpened)
        save_small(draw_known(name, budget) if budget else draw(), tmp_path / "anew.png")
    kept, anew = imread(IMAGES / f"{picture}.png"), imread(tmp_path / "anew.png")
    assert kept.shape == anew.shape
    assert abs(float(kept.mean()) - float(anew.mean())) < 0.05
    assert (IMAGES / f"{picture}.png").stat().st_size < 200_000
