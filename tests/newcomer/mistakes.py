"""The likely mistakes of a newcomer on the command line, each with what the message has to say."""

from dataclasses import dataclass

from tests.newcomer.desk import W_S_E_N

OPTIONS = "--epsilon 1 -o new.dp.parquet --method ug --no-calibrate"
PUBLISH = f"hushgrid publish trips.parquet --domain {W_S_E_N} {OPTIONS}"
QUERY = f"hushgrid query trips.dp.parquet --rect {W_S_E_N}"
MAKE_A_RELEASE = "hushgrid publish POINTS --domain W,S,E,N --epsilon 1 -o RELEASE.dp.parquet"


@dataclass(frozen=True)
class Mistake:
    """A command line that is wrong.

    Parameters
    ----------
    typed : str
        What was typed.
    code : int
        The exit code.
    given, allowed : str
        Parts of the message: what was given, and what would be right.
    works : str
        The command that is shown, letter for letter.
    filled : dict
        What a reader puts in the place of capital letters.
    """

    typed: str
    code: int
    given: str
    allowed: str
    works: str
    filled: tuple[tuple[str, str], ...] = ()

    @property
    def runnable(self) -> str:
        """The command that is shown, with its blanks filled in."""
        command = self.works
        for blank, value in self.filled:
            command = command.replace(blank, value)
        return command


def instead(old: str, new: str, *, of: str = PUBLISH) -> tuple[str, str]:
    """A command that is wrong and one that is right."""
    assert new in of
    return of.replace(new, old), of


def _wrong(old: str, new: str, code: int, given: str, allowed: str, *, of: str = PUBLISH) -> Mistake:
    typed, works = instead(old, new, of=of)
    return Mistake(typed, code, given, allowed, works)


COLUMN = (("COLUMN", "user"),)
FILLED = (("POINTS", "trips.csv"), ("W,S,E,N", W_S_E_N), ("RELEASE", "new"))

MISTAKES = {
    "columns that are not recognised": Mistake(
        f"hushgrid publish rides.parquet --domain {W_S_E_N} {OPTIONS}",
        3,
        "rides.parquet has no columns known as coordinates",
        "Its columns are: 'user', 'pickup_lon', 'pickup_lat'",
        f"hushgrid publish rides.parquet --domain {W_S_E_N} {OPTIONS} --lon pickup_lon --lat pickup_lat",
    ),
    "a column that is not there": Mistake(
        f"{PUBLISH} --lon longitude --lat latitude",
        3,
        "has no column 'longitude'",
        "Its columns are: 'user', 'lon', 'lat'",
        f"{PUBLISH} --lon lon --lat lat",
    ),
    "half a pair of columns": Mistake(
        f"{PUBLISH} --lon lon",
        2,
        "got lon='lon', lat=None",
        "Name both columns",
        f"{PUBLISH} --lon lon --lat COLUMN",
        (("COLUMN", "lat"),),
    ),
    "latitude before longitude in the domain": _wrong(
        "35.5,139.5,35.9,140", "139.5,35.5,140,35.9", 2, "south=139.5, north=140.0", "The order is W,S,E,N",
        of=PUBLISH.replace(W_S_E_N, "139.5,35.5,140,35.9"),
    ),
    "east before west": Mistake(
        PUBLISH.replace(W_S_E_N, "-73.70,40.48,-74.26,40.92"),
        2,
        "got west=-73.7, east=-74.26",
        "west must be below east",
        PUBLISH.replace(W_S_E_N, "-74.26,40.48,-73.7,40.92"),
    ),
    "blanks in the domain": _wrong(
        "-74.26 40.48 -73.70 40.92", W_S_E_N, 2, "got -74.26 40.48 -73.70 40.92", "with commas and no blanks"
    ),
    "blanks in the domain, in quotes": _wrong(
        "'-74.26 40.48 -73.70 40.92'", W_S_E_N, 2, "got '-74.26 40.48 -73.70 40.92'", "separated by commas"
    ),
    "blanks after commas": _wrong(
        "-74.26, 40.48, -73.70, 40.92", W_S_E_N, 2, "got -74.26, 40.48", "with commas and no blanks"
    ),
    "no domain": Mistake(
        PUBLISH.replace(f"--domain {W_S_E_N} ", ""),
        2,
        "Missing option '--domain'",
        "See 'hushgrid publish --help'",
        PUBLISH.replace(f"--domain {W_S_E_N} ", "") + " --domain W,S,E,N",
        FILLED,
    ),
    "a decimal comma": Mistake(
        PUBLISH.replace("--epsilon 1", "--epsilon 1,0"),
        2,
        "got epsilon='1,0'",
        "a decimal point, not a comma",
        PUBLISH.replace("--epsilon 1", "--epsilon 1.0"),
    ),
    "an epsilon of nothing": _wrong("--epsilon 0", "--epsilon 1", 2, "got epsilon='0'", "must be a finite number > 0"),
    "a negative epsilon": _wrong("--epsilon -1", "--epsilon 1", 2, "got epsilon='-1'", "Common values are 0.1 to 10"),
    "epsilon in words": _wrong("--epsilon one", "--epsilon 1", 2, "got epsilon='one'", "must be a finite number"),
    "points in metres, a domain in degrees": Mistake(
        f"hushgrid publish metres.parquet --domain {W_S_E_N} {OPTIONS}",
        3,
        "column 'geometry' of metres.parquet is in EPSG:32618",
        "Give the system of the points",
        f"hushgrid publish metres.parquet --domain {W_S_E_N} {OPTIONS} --crs EPSG:32618",
    ),
    "points given to query": Mistake(
        f"hushgrid query trips.parquet --rect {W_S_E_N}",
        3, "trips.parquet cannot be read", "it is not a release of hushgrid", MAKE_A_RELEASE, FILLED,
    ),
    "a CSV file given to query": Mistake(
        f"hushgrid query trips.csv --rect {W_S_E_N}",
        3, "trips.csv is not a Parquet file", "so it cannot be a release", MAKE_A_RELEASE, FILLED,
    ),
    "a release given to publish": Mistake(
        PUBLISH.replace("trips.parquet", "trips.dp.parquet"),
        3,
        "trips.dp.parquet is a release already",
        "it holds cells and noisy counts, not points",
        "hushgrid query trips.dp.parquet --rect W,S,E,N",
        FILLED,
    ),
    "a file that does not exist": _wrong(
        "trip.parquet", "trips.parquet", 3, "trip.parquet does not exist", "Check the path"
    ),
    "a release that does not exist": _wrong(
        "trip.dp.parquet", "trips.dp.parquet", 3, "trip.dp.parquet", "does not exist", of=QUERY
    ),
    "an output that is no Parquet file": Mistake(
        PUBLISH.replace("new.dp.parquet", "new.gpkg"),
        2,
        "got new.gpkg",
        "--output must end in .parquet",
        PUBLISH.replace("new.dp.parquet", "new.parquet"),
    ),
    "an export by another name": Mistake(
        "hushgrid export trips.dp.parquet --to csv -o cells.json",
        2, "got cells.json", "must end in .csv", "hushgrid export trips.dp.parquet --to csv -o cells.csv",
    ),
    "an unknown method": _wrong("--method ugg", "--method ug", 2, "got method='ugg'", "method must be one of auto, ug"),
    "a method in capitals": _wrong("--method UG", "--method ug", 2, "got method='UG'", "method must be one of"),
    "an option cut short": _wrong("--eps 1", "--epsilon 1", 2, "No such option '--eps'", "'--epsilon'"),
    "a command misspelt": _wrong(
        "hushgrid pubilsh", "hushgrid publish", 2, "No such command 'pubilsh'", "Did you mean 'publish'?"
    ),
    "a format misspelt": Mistake(
        "hushgrid export trips.dp.parquet --to geojsn -o cells.geojson",
        2,
        "'geojsn' is not one of",
        "'gpkg', 'geotiff', 'geojson', 'csv', 'png'",
        "hushgrid export trips.dp.parquet --to geojson -o cells.geojson",
    ),
    "a bound on users without their column": Mistake(
        f"{PUBLISH} --max-per-user 10",
        2, "got max_per_user=10 without user", "Name the column of user ids",
        f"{PUBLISH} --max-per-user 10 --user-column COLUMN", COLUMN,
    ),
    "users without a bound": Mistake(
        f"{PUBLISH} --user-column user",
        2, "user needs max_per_user", "how many records of one user are kept at most",
        f"{PUBLISH} --user-column user --max-per-user 10",
    ),
    "a user column that is not there": Mistake(
        f"{PUBLISH} --user-column usr --max-per-user 10",
        3, "has no column 'usr' of user ids", "Its columns are: 'user', 'lon', 'lat'",
        f"{PUBLISH} --user-column user --max-per-user 10",
    ),
    "a rectangle upside down": Mistake(
        "hushgrid query trips.dp.parquet --rect -73.9,40.7,-74,40.8",
        2, "(-73.9,40.7,-74,40.8) is inverted", "The order is west, south, east, north",
        "hushgrid query trips.dp.parquet --rect -74,40.7,-73.9,40.8",
    ),
    "confidence in percent": Mistake(
        f"{QUERY} --confidence 95",
        2, "got confidence=95.0", "must lie between 0 and 1", f"{QUERY} --confidence 0.95",
    ),
    "a number with an exponent": Mistake(
        f"{PUBLISH} --public-size 2e3",
        2, "'2e3' is not a valid integer", "See 'hushgrid publish --help'", f"{PUBLISH} --public-size 2000",
    ),
    "a total with a comma in it": _wrong(
        "--scale-to-total 100,000", "--scale-to-total 100000", 2, "got '100,000'", "must be a whole number or",
        of=f"{PUBLISH} --user-column user --max-per-user 10 --scale-to-total 100000",
    ),
    "more than is left": Mistake(
        PUBLISH.replace("--epsilon 1", "--epsilon 2") + " --dataset trips",
        4, "epsilon 2 is asked", "which has 1 left", f"{PUBLISH} --dataset trips",
    ),
    "an unknown data set": Mistake(
        f"{PUBLISH} --dataset trip",
        5, "no data set 'trip'", "it has 'trips'", f"{PUBLISH} --dataset trips",
    ),
    "a ledger that is not there": Mistake(
        f"{PUBLISH} --dataset trips --ledger team.ledger",
        5, "the ledger team.ledger does not exist", "Create it",
        "hushgrid ledger init --ledger team.ledger --dataset NAME --budget B --unit record|user",
        (("NAME", "trips"), ("budget B", "budget 1"), ("record|user", "record")),
    ),
    "an entry that is not there": Mistake(
        f"{PUBLISH} --dataset trips --resume 7",
        5, "has no entry 7", "it has no entries yet", "hushgrid ledger history",
    ),
}  # fmt: skip
