"""The files that pages speak of, made up from seeds: `<!-- files: trips.parquet districts.geojson -->`."""

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import hushgrid as hg

NEW_YORK = hg.Domain(west=-74.26, south=40.48, east=-73.70, north=40.92)
TRIPS = 60_000
USERS = 5_000
FIRST_DAY = np.datetime64("2026-03-01T00:00:00")

# Centre, spread and share of the trips: midtown, downtown, Brooklyn, Queens, an airport, the Bronx, Staten Island.
CENTRES = np.array(
    [
        [-73.982, 40.757, 0.014, 0.34],
        [-74.008, 40.712, 0.009, 0.20],
        [-73.965, 40.680, 0.024, 0.18],
        [-73.880, 40.745, 0.028, 0.12],
        [-73.785, 40.645, 0.005, 0.05],
        [-73.900, 40.845, 0.024, 0.08],
        [-74.145, 40.590, 0.022, 0.03],
    ]
)

# Five districts as rough as a sketch, longitude and latitude.
DISTRICTS = {
    "Manhattan": [[-74.02, 40.70], [-73.97, 40.71], [-73.92, 40.80], [-73.91, 40.88], [-73.94, 40.88], [-74.02, 40.74]],
    "Brooklyn": [[-74.04, 40.61], [-73.99, 40.57], [-73.86, 40.60], [-73.86, 40.69], [-73.92, 40.70], [-73.97, 40.71]],
    "Queens": [[-73.86, 40.60], [-73.74, 40.59], [-73.71, 40.75], [-73.79, 40.79], [-73.92, 40.79], [-73.92, 40.70],
               [-73.86, 40.69]],
    "Bronx": [[-73.92, 40.80], [-73.79, 40.80], [-73.79, 40.88], [-73.86, 40.91], [-73.91, 40.88]],
    "Staten Island": [[-74.25, 40.50], [-74.06, 40.60], [-74.07, 40.65], [-74.19, 40.64]],
}  # fmt: skip


# Those five are counties of New York; two of New Jersey lie beside them, where few of the trips go.
COUNTIES = {
    ("New York", "New York"): DISTRICTS["Manhattan"],
    ("New York", "Kings"): DISTRICTS["Brooklyn"],
    ("New Jersey", "Hudson"): [[-74.14, 40.66], [-74.03, 40.66], [-74.03, 40.78], [-74.14, 40.78]],
    ("New York", "Queens"): DISTRICTS["Queens"],
    ("New York", "Bronx"): DISTRICTS["Bronx"],
    ("New Jersey", "Essex"): [[-74.25, 40.66], [-74.14, 40.66], [-74.14, 40.80], [-74.25, 40.80]],
    ("New York", "Richmond"): DISTRICTS["Staten Island"],
}


def make(name: str) -> None:
    """Write the file of a name into the current folder."""
    FILES[name](Path(name))


def trips() -> pa.Table:
    """Trips in New York: lon, lat, user_id, time. Some users have many."""
    rng = np.random.default_rng(20260301)
    centre = CENTRES[rng.choice(len(CENTRES), TRIPS, p=CENTRES[:, 3])]
    places = np.round(rng.normal(centre[:, :2], centre[:, 2:3]), 6)
    activity = rng.lognormal(sigma=1.0, size=USERS)
    user = rng.choice(USERS, TRIPS, p=activity / activity.sum())
    seconds = np.sort(rng.integers(0, 31 * 86_400, TRIPS)).astype("timedelta64[s]")
    names = np.char.add("u", np.char.zfill(user.astype(str), 4))
    return pa.table({"lon": places[:, 0], "lat": places[:, 1], "user_id": names, "time": FIRST_DAY + seconds})


def trips_csv(path: Path) -> None:
    """The trips as CSV."""
    pyarrow.csv.write_csv(trips(), path, pyarrow.csv.WriteOptions(quoting_style="none"))


def trips_parquet(path: Path) -> None:
    """The trips as Parquet."""
    pq.write_table(trips(), path)


def release(path: Path, *, method: str) -> None:
    """A release of the trips."""
    release_by(method).save(path)


@cache
def release_by(method: str) -> hg.Synopsis:
    """A release of the trips, the same for all pages of a run."""
    return hg.publish(trips(), domain=NEW_YORK, epsilon=1, method=method)


def hours(path: Path) -> None:
    """A release of the trips by hour of the day."""
    by = hg.By.time("time", "hour", timezone="America/New_York")
    hg.publish(trips(), domain=NEW_YORK, epsilon=1, by=by).save(path)


def february(path: Path) -> None:
    """A release of the month before: half the trips of the Bronx, and a tenth more in Brooklyn."""
    table = trips()
    lon, lat = table["lon"].to_numpy(), table["lat"].to_numpy()
    number = np.arange(len(lat))
    kept = (lat < 40.80) | (number % 2 == 0)
    more = (np.hypot(lon + 73.965, lat - 40.66) < 0.02) & (number % 10 < 3)
    months = pa.concat_tables([table.filter(kept), table.filter(more)])
    hg.publish(months, domain=NEW_YORK, epsilon=1).save(path)


def districts(path: Path, names: tuple[str, ...] = tuple(DISTRICTS)) -> None:
    """Districts of New York as GeoJSON, with a property `name`."""
    polygons(path, [({"name": name}, DISTRICTS[name]) for name in names])


def counties(path: Path) -> None:
    """Counties as GeoJSON, with properties `state` and `county`."""
    polygons(path, [({"state": state, "county": county}, ring) for (state, county), ring in COUNTIES.items()])


def polygons(path: Path, areas: list[tuple[dict[str, str], list[list[float]]]]) -> None:
    """Areas as GeoJSON, each of its properties and its ring."""
    features = [
        {
            "type": "Feature",
            "properties": properties,
            "geometry": {"type": "Polygon", "coordinates": [[*ring, ring[0]]]},
        }
        for properties, ring in areas
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))


def stations(path: Path) -> None:
    """Squares about four stations in New York as GeoJSON, with a property `name`."""
    places = {"North": (-73.95, 40.80), "Bridge": (-73.97, 40.75), "Market": (-73.99, 40.70), "Park": (-73.96, 40.66)}
    sides = [(-0.004, -0.003), (0.004, -0.003), (0.004, 0.003), (-0.004, 0.003)]
    polygons(path, [({"name": name}, [[x + dx, y + dy] for dx, dy in sides]) for name, (x, y) in places.items()])


def addresses(path: Path) -> None:
    """Public addresses in New York as GeoJSON points, with a property `homes`: many where trips are, some elsewhere."""
    rng = np.random.default_rng(12)
    centre = CENTRES[rng.choice(len(CENTRES), 2_000, p=CENTRES[:, 3])]
    near = rng.normal(centre[:, :2], centre[:, [2, 2]])
    anywhere = rng.uniform((-74.2, 40.52), (-73.74, 40.88), (400, 2))
    places = np.round([*near, *anywhere], 5).tolist()
    features = [
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": place}, "properties": {"homes": homes}}
        for place, homes in zip(places, rng.integers(1, 5, len(places)).tolist(), strict=True)
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "license": "CC0 1.0", "features": features}))


def bikes(path: Path) -> None:
    """Places in London where a bicycle was hired."""
    points = np.random.default_rng(20260302).normal((-0.12, 51.51), (0.06, 0.03), (5_000, 2))
    pq.write_table(pa.table({"lon": points[:, 0], "lat": points[:, 1]}), path)


FILES: dict[str, Callable[[Path], None]] = {
    "bikes.parquet": bikes,
    "addresses.geojson": addresses,
    "trips.csv": trips_csv,
    "trips.parquet": trips_parquet,
    "trips.dp.parquet": partial(release, method="auto"),
    "2026-02.dp.parquet": february,
    "2026-03.dp.parquet": partial(release, method="auto"),
    "hours.dp.parquet": hours,
    "homes.dp.parquet": partial(release, method="ug"),
    "ag.dp.parquet": partial(release, method="ag"),
    "counties.geojson": counties,
    "stations.geojson": stations,
    "districts.geojson": districts,
    "land.geojson": districts,
}
