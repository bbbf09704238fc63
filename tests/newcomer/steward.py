"""Mistakes of a steward: what was typed, how it ends, what is said, and what it costs.

A budget is spent once, so what could be known before reading costs nothing. To add a mistake, add a row.
"""

from typing import NamedTuple

from tests.newcomer.desk import W_S_E_N

OPTIONS = "--epsilon 1 -o new.dp.parquet --method uniform --no-calibrate --dataset trips"
PARIS, PARIS_IN_METRES = "2.2,48.8,2.4,48.9", "641000,6855000,656000,6867000"


class Row(NamedTuple):
    """One mistake.

    Parameters
    ----------
    typed : str
        The command, after the name of the program.
    code : int
        The exit code.
    sentence : str
        Part of what is said.
    spent : str
        Epsilon that the ledger has charged afterwards.
    shown : str
        Part of the command that is shown instead; none is, where it is empty.
    filled : tuple of two str
        A blank in that command, and what a reader writes there.
    """

    typed: str
    code: int
    sentence: str
    spent: str = "0"
    shown: str = ""
    filled: tuple[str, str] = ("", "")


def publish(points: str = "trips.parquet", more: str = "", *, domain: str = W_S_E_N, options: str = OPTIONS) -> str:
    """A command that publishes on the ledger."""
    return f"publish {points} --domain {domain} {options} {more}".strip()


def with_option(old: str, new: str) -> str:
    """The usual command with one option changed."""
    assert old in publish()
    return publish().replace(old, new)


def on_areas(areas: str, more: str = "") -> str:
    """A command that counts on areas of the domain."""
    options = "--epsilon 1 -o new.dp.parquet --dataset trips"
    return f"publish trips.parquet --domain {W_S_E_N} --areas {areas} {options} {more}".strip()


CSV_SIGNS = {
    "a comma for everything": Row(
        publish("spreadsheet.csv", "--decimal , --delimiter ,"),
        2,
        "decimal and delimiter are both ','",
        shown="--delimiter ';'",
    ),
    "commas in numbers between commas": Row(
        publish("trips.csv", "--decimal ,"), 3, "the number 52,5 would be two of them"
    ),
    "an unknown delimiter": Row(publish("colons.csv", "--delimiter :"), 2, "must be ',', ';', '|' or 'tab', got"),
    "a delimiter in words": Row(publish("spreadsheet.csv", "--delimiter semicolon"), 2, "got delimiter='semicolon'"),
    "a semicolon for decimals": Row(publish("spreadsheet.csv", "--decimal ';'"), 2, "decimal must be '.' or ','"),
    "a blank for decimals": Row(publish("spreadsheet.csv", "--decimal SIGN"), 2, "got decimal='SIGN'"),
    "a delimiter the header lacks": Row(
        publish("spreadsheet.csv", "--delimiter tab --decimal ,"),
        3,
        "spreadsheet.csv has semicolons between",
        shown="--delimiter ';'",
    ),
    "signs of a Parquet file": Row(
        publish("trips.parquet", "--decimal ,"), 2, "are about CSV files, and trips.parquet"
    ),
    "signs of a query": Row(
        publish("\"SELECT lon, lat FROM 'trips.parquet'\"", "--engine duckdb --delimiter ';'"),
        2,
        "are about CSV files, and what DuckDB reads is not one",
    ),
    "no header": Row(publish("headless.csv"), 3, "The first line of the file must name the columns"),
    "other separators": Row(publish("colons.csv"), 3, "separated by a comma, semicolon, tab or |"),
}

REFERENCE_SYSTEMS = {
    "a domain in metres, degrees expected": Row(
        publish("trips.csv", "--crs EPSG:2154", domain=PARIS_IN_METRES),
        2,
        "is not in longitude and latitude",
        shown="--domain-crs EPSG:2154",
    ),
    "a domain in metres of no system": Row(
        publish("trips.csv", domain=PARIS_IN_METRES), 2, "For metres, name their system"
    ),
    "a domain in degrees, metres expected": Row(
        publish("trips.csv", "--domain-crs EPSG:2154", domain=PARIS),
        2,
        "look like degrees, and the domain is in EPSG:2154",
        shown="--domain-crs OGC:CRS84",
    ),
    "the same by the old option": Row(
        publish("trips.csv", "--grid-crs EPSG:2154", domain=PARIS), 2, "look like degrees", shown="--grid-crs OGC:CRS84"
    ),
    "latitude first, points in metres": Row(
        publish("trips.csv", "--crs EPSG:2154", domain="48.8,2.2,48.9,2.4"),
        2,
        "lies far from where the system of the",
        shown=f"--domain {PARIS}",
    ),
    "metres of another system": Row(
        publish("trips.csv", "--crs EPSG:2154 --domain-crs EPSG:32618", domain=PARIS_IN_METRES),
        2,
        "lies far from",
        shown="--domain-crs EPSG:2154",
    ),
    "points of another continent": Row(
        publish("trips.csv", "--crs EPSG:2154"), 2, "EPSG:2154 is used, -9.86,41.15,10.38,51.56 (W,S,E,N in degrees)"
    ),
    "no such system": Row(publish("trips.csv", "--crs EPSG:999999"), 2, "'EPSG:999999'"),
    "points in metres that nobody named": Row(
        publish("metres.parquet"), 3, "of metres.parquet is in EPSG:32618", shown="--crs EPSG:32618"
    ),
    "latitude first": Row(
        publish(domain="35.5,139.5,35.9,140"), 2, "The order is W,S,E,N", shown="--domain 139.5,35.5,140,35.9"
    ),
}

USUAL = "--domain -74.26,40.48,-73.70,40.92 "
BOUNDS = {
    "decimal commas in the domain": Row(
        publish("trips.csv", domain="'-74,26;40,48;-73,70;40,92'"), 2, "separated by commas, got", shown=USUAL
    ),
    "decimal commas and blanks": Row(
        publish("trips.csv", domain="'-74,26, 40,48, -73,70, 40,92'"), 2, "separated by commas, got", shown=USUAL
    ),
    "a minus sign of typesetting": Row(
        publish("trips.csv", domain="\u221274.26,40.48,\u221273.70,40.92"), 2, "four numbers W,S,E,N", shown=USUAL
    ),
    "sides of the world as letters": Row(
        publish("trips.csv", domain="74.26W,40.48N,73.70W,40.92N"), 2, "four numbers W,S,E,N", shown=USUAL
    ),
    "letters in another order": Row(
        publish("trips.csv", domain="'40.48N 74.26W 40.92N 73.70W'"), 2, "four numbers W,S,E,N"
    ),
    "brackets around the domain": Row(
        publish("trips.csv", domain="'(-74.26, 40.48, -73.70, 40.92)'"), 2, "four numbers W,S,E,N", shown=USUAL
    ),
    "a file for the domain": Row(publish("trips.csv", domain="districts.geojson"), 2, "got 'districts.geojson'"),
}

VALUES = {
    "epsilon in per cent": Row(
        with_option("--epsilon 1 ", "--epsilon 10% "),
        2,
        "It is not in per cent. 'hushgrid plan --accuracy 10%' tells",
        shown="--epsilon 0.1",
    ),
    "a share in per cent": Row(
        publish(more="--size-share 5%"), 2, "got size_share='5%'. It is not in per cent.", shown="--size-share 0.05"
    ),
    "epsilon with a comma": Row(
        with_option("--epsilon 1 ", "--epsilon 0,5 "), 2, "a decimal point, not a comma", shown="--epsilon 0.5"
    ),
    "a method by its paper, misspelt": Row(
        with_option("uniform --no", "unifrom-grid --no"), 2, "or what papers call one", shown="--method uniform-grid"
    ),
    "a length without its unit": Row(
        with_option("--method uniform ", "--aim 500 "), 2, "aim must be a length", shown="--aim 500m"
    ),
    "a choice cut short": Row(
        publish(more="--size-from dom"), 2, "is not one of 'rows', 'domain'", shown="--size-from domain"
    ),
    "a symbol without its number": Row(with_option("uniform --no", "U_m --no"), 2, "such as uniform-grid, K_st, U_64"),
    "users of a ledger for records": Row(
        publish(more="--user-column user --max-per-user 5"), 5, "protects each record, but the release would"
    ),
    "users without a bound": Row(publish(more="--user-column user"), 2, "user needs max_per_user"),
    "more than is left": Row(with_option("--epsilon 1 ", "--epsilon 3 "), 4, "which has 1 left", shown="--epsilon 1"),
    "another data set": Row(publish(more="--dataset trip"), 5, "it has 'trips'"),
}

FILES = {
    "districts given to query": Row(
        "query districts.geojson",
        3,
        "is a GeoJSON file and not a Parquet file",
        shown="hushgrid query RELEASE.dp.parquet --polygons districts.geojson",
        filled=("RELEASE", "trips"),
    ),
    "districts given to publish": Row(publish("districts.geojson"), 3, "ogr2ogr districts.csv districts.geojson"),
    "districts beside the release": Row(
        "query trips.dp.parquet districts.geojson",
        2,
        "unexpected extra argument (districts.geojson). See",
        shown="hushgrid query trips.dp.parquet --polygons districts.geojson",
    ),
    "districts before the release": Row(
        "query districts.geojson trips.dp.parquet",
        2,
        "unexpected extra argument",
        shown="hushgrid query trips.dp.parquet --polygons districts.geojson",
    ),
    "confidence with a sign": Row(
        f"query trips.dp.parquet --rect {W_S_E_N} --confidence 95%", 2, "is not a valid", shown="--confidence 0.95"
    ),
    "a ledger that protects nobody": Row(
        "ledger init --dataset bikes --budget 3",
        2,
        "Choose from: record, user. See",
        shown="hushgrid ledger init --dataset bikes --budget 3 --unit 'record|user'",
        filled=("'record|user'", "record"),
    ),
    "a statement in German": Row(
        "manifest trips.dp.parquet --language German", 2, "one of en, de, fr, es", shown="--language de"
    ),
    "a blank for the page": Row("map trips.dp.parquet -o 'HTML|-'", 2, "is a blank to fill in", shown="-o result.html"),
    "no page": Row(
        "map trips.dp.parquet", 2, "Missing option '-o'", shown="--output HTML", filled=("HTML", "trips.html")
    ),
    "a blank for the release": Row(
        with_option("new.dp.parquet", "FILE"), 2, "--output FILE is a blank to fill in", shown="-o result.parquet"
    ),
    "a release that is there": Row(with_option("new.dp.parquet", "trips.dp.parquet"), 2, "trips.dp.parquet exists"),
    "a folder that is not there": Row(with_option("new.dp.parquet", "out/new.dp.parquet"), 2, "mkdir -p out"),
    "a release over its points": Row(
        with_option("-o new.dp.parquet", "-o trips.parquet --overwrite"), 2, "the file of the points themselves"
    ),
}

BEFORE = {
    "fewer points than noise": Row(publish(more="--public-size 2"), 2, "mostly noise: of about 2 points"),
    "more records a user than the noise allows": Row(
        publish(more="--user-column user --max-per-user 5000 --points-about 5000"),
        2,
        "shared by up to 5,000 records of each user",
    ),
    "no points at all": Row(publish(more="--points-about 0"), 2, "points_about must be a whole number from 1 to"),
    "rows shown with a release": Row(publish(more="--look"), 2, "Give --check as well"),
    "a check of a pipe": Row(publish("-", "--check"), 2, "--check would use up standard input"),
}

AREAS = {
    "areas that are not there": Row(on_areas("wards.geojson"), 3, "wards.geojson"),
    "areas without such a name": Row(on_areas("districts.geojson", "--area-name ward"), 3, "'ward' must be a property"),
    "levels of no areas": Row(publish(more="--levels state,county"), 2, "--levels is about areas"),
    "areas beside a method": Row(on_areas("districts.geojson", "--method staq"), 2, "leave --method out"),
    "an H3 resolution too fine": Row(on_areas("h3:16"), 2, "from 0 to 15"),
    "people counted on nothing public": Row(
        publish(more="--distinct-users --user-column user --max-per-user 5"), 2, "--distinct-users needs"
    ),
}

PEOPLE = {
    "a bound without users": Row(publish(more="--max-per-user 5"), 2, "max_per_user is about users"),
    "users on an account of records": Row(
        publish(more="--user-column owner --max-per-user 5"), 5, "would protect each user"
    ),
    "a cap below the bound": Row(
        publish(more="--user-column user --max-per-user 5 --max-for-total 3"), 2, "would count fewer records"
    ),
    "a bound of nothing": Row(publish(more="--user-column user --max-per-user 0"), 2, "at least 1"),
    "a budget that is no number": Row(with_option("--epsilon 1", "--epsilon ten"), 2, "epsilon='ten'"),
    "a budget of nothing": Row(with_option("--epsilon 1", "--epsilon 0"), 2, "epsilon"),
    "an entry that is not there": Row(publish(more="--resume 7"), 5, "7"),
    "a release that is both old and new": Row(publish(more="--resume 1 --new-release"), 2, "Give one of them"),
}

STEWARD = {**CSV_SIGNS, **REFERENCE_SYSTEMS, **BOUNDS, **VALUES, **FILES, **BEFORE, **AREAS, **PEOPLE}
