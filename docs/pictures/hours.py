"""Check-ins of New York hour by hour: four times of day, and three places through the day."""

import math
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from matplotlib.figure import Figure

from docs.pictures.known import PANEL, SHOWN, TITLE, WITH_USERS, draw_densities, drawn, set_at_hand
from docs.pictures.look import NOISE, TOTAL, UNIFORMITY, panels
from hushgrid import By, Slices, publish

BUDGET = "1"
ZONE = "America/New_York"
TIMES_OF_DAY = {"03 to 05": (3, 6), "07 to 09": (7, 10), "12 to 14": (12, 15), "19 to 21": (19, 22)}
PLACES = {  # public, and chosen by name
    "Midtown": (-74.000, 40.745, -73.965, 40.765),
    "East Village and Lower East Side": (-73.992, 40.712, -73.972, 40.734),
    "JFK airport": (-73.825, 40.620, -73.750, 40.668),
}
COLOURS = (TOTAL, NOISE, UNIFORMITY)


@cache
def release_by_hour() -> Slices:
    """Check-ins by the hour on the clocks of New York, with noise of its own."""
    dataset = set_at_hand(WITH_USERS)
    if dataset is None:
        msg = f"{WITH_USERS} is not there: let HUSHGRID_DATA name the folder that holds it."
        raise FileNotFoundError(msg)
    table = pq.read_table(dataset.path, columns=["lon", "lat", "timestamp"])
    in_utc = table["timestamp"].cast(pa.timestamp("ms", "UTC"))  # as they are, without saying so
    table = table.set_column(2, "timestamp", in_utc)
    by = By.time("timestamp", "hour", timezone=ZONE)
    return publish(table, domain=dataset.domain, epsilon=BUDGET, by=by, prior="none")


def draw_hour_maps() -> Figure:
    """What is drawn of three hours together, four times of day, in colours of one scale."""
    slices, shown = release_by_hour(), SHOWN[WITH_USERS]
    ratio = shown.width / shown.height * math.cos(math.radians((shown.south + shown.north) / 2))
    width, height = math.sqrt(PANEL / 2 * ratio), math.sqrt(PANEL / 2 / ratio)
    figure, places = panels(1, len(TIMES_OF_DAY), size=(width * len(TIMES_OF_DAY), height + TITLE))
    densities = {
        title: np.sum([drawn(slices[name]) for name in slices.names[first:stop]], axis=0)
        for title, (first, stop) in TIMES_OF_DAY.items()
    }
    highest = max(float(np.quantile(each[each > 0], 0.999)) for each in densities.values())
    for axes, (title, each) in zip(places, densities.items(), strict=True):
        draw_densities(axes, slices.domain, each, shown, highest=highest)
        axes.set_title(f"{title}, ε = {BUDGET}", fontsize=9.5)
    return figure


def draw_hour_places() -> Figure:
    """Check-ins of three places by hour, with 95 % intervals."""
    slices = release_by_hour()
    answer = slices.answer(np.array(list(PLACES.values())))
    figure, places = panels(1, len(PLACES), size=(9.5, 2.6))
    hours = np.arange(len(slices))
    for number, (axes, title, colour) in enumerate(zip(places, PLACES, COLOURS, strict=True)):
        estimate, low, high = (np.asarray(each)[:, number] for each in (answer.estimate, answer.low, answer.high))
        axes.fill_between(hours, low, high, step="mid", color=colour, alpha=0.25, linewidth=0)
        axes.step(hours, estimate, where="mid", color=colour, linewidth=1.4)
        axes.set_title(title, fontsize=9.5)
        axes.set_xticks(range(0, 24, 6), [slices.names[hour] for hour in range(0, 24, 6)])
        axes.set_xlim(-0.5, 23.5)
        axes.set_ylim(bottom=0)
    places[0].set_ylabel("check-ins of an hour")
    return figure
