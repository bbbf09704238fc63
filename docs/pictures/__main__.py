"""Draw every picture of the documentation anew, from fixed seeds, and those of releases with noise of their own."""

from pathlib import Path

from matplotlib import rc_context, rcParamsDefault

from docs.pictures.grids import draw_grids
from docs.pictures.hours import draw_hour_maps, draw_hour_places
from docs.pictures.known import BUDGETS, SHOWN, WITH_USERS, draw_known, set_at_hand
from docs.pictures.look import LOOK, Draw, save, save_small
from docs.pictures.odds import draw_odds
from docs.pictures.sharpened import NAME, draw_sharpened
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
# A set of points and a budget; noise from a seed could be taken off again, and most sets are not ours to give away.
RELEASES = {f"known-{name.replace('_', '-')}-{budget}": (name, budget) for name in SHOWN for budget in BUDGETS}

SHARPENED = "prior-us-chains"
HOURS: dict[str, Draw] = {"hours-maps": draw_hour_maps, "hours-places": draw_hour_places}


def main() -> None:
    """Write all pictures to docs/images."""
    with rc_context({**rcParamsDefault, **LOOK}):
        for name, draw in PICTURES.items():
            save(draw(), IMAGES / f"{name}.png")
        for picture, (name, budget) in RELEASES.items():
            if set_at_hand(name):  # else the picture stays as it is
                save_small(draw_known(name, budget), IMAGES / f"{picture}.png")
        if set_at_hand(NAME):
            save_small(draw_sharpened(), IMAGES / f"{SHARPENED}.png")
        if set_at_hand(WITH_USERS):
            for name, draw in HOURS.items():
                save_small(draw(), IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
