"""Draw every picture of the documentation anew, from fixed seeds."""

from pathlib import Path

from matplotlib import rc_context, rcParamsDefault

from docs.pictures.grids import draw_grids
from docs.pictures.look import LOOK, Draw, save
from docs.pictures.odds import draw_odds
from docs.pictures.staq_splits import draw_staq_splits
from docs.pictures.staq_stages import draw_staq_stages
from docs.pictures.two_errors import draw_two_errors

IMAGES = Path(__file__).parent.parent / "images"
PICTURES: dict[str, Draw] = {
    "grids": draw_grids,
    "odds": draw_odds,
    "staq-splits": draw_staq_splits,
    "staq-stages": draw_staq_stages,
    "two-errors": draw_two_errors,
}


def main() -> None:
    """Write all pictures to docs/images."""
    with rc_context({**rcParamsDefault, **LOOK}):
        for name, draw in PICTURES.items():
            save(draw(), IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
