"""Gowalla's check-ins, the source of the paper's `checkin` set, from the Stanford Large Network Dataset Collection.

Reference: Cho, Myers, Leskovec: "Friendship and Mobility: User Movement in Location-Based Social Networks", KDD 2011.
"""

import hashlib
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from hushgrid.errors import InputError

ADDRESS = "https://snap.stanford.edu/data/loc-gowalla_totalCheckins.txt.gz"
LINES = 6_442_892  # of the file, one a check-in
COLUMNS = ("user", "time", "lat", "lon", "poi")
TIMEOUT = 60  # seconds without a byte
CHUNK = 2**20


def fetch_gowalla(folder: Path, *, address: str = ADDRESS, lines: int = LINES) -> Path:
    """Download the check-ins, check them, and write longitudes and latitudes to ``gowalla.parquet``.

    The source states no checksum. The file must have as many lines as it is known to have; its SHA-256 is kept in
    ``gowalla.sha256`` beside the result, and where that is there already the file must have the same.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as temporary:
        archive = Path(temporary) / "checkins.txt.gz"
        digest = download(address, archive)
        check_digest(digest, folder / "gowalla.sha256")
        points = read_checkins(archive)
        if len(points) != lines:
            msg = f"{address} should have {lines:,} lines, and has {len(points):,}: it was cut short, or has changed."
            raise InputError(msg)
        whole = Path(temporary) / "gowalla.parquet"
        pq.write_table(points, whole, compression="zstd")
        (folder / "gowalla.sha256").write_text(f"{digest}  {Path(address).name}\n")
        return whole.replace(folder / "gowalla.parquet")


def download(address: str, target: Path) -> str:
    """Save what is at an address, and return its SHA-256."""
    digest = hashlib.sha256()
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT) as response, target.open("wb") as file:  # noqa: S310  # a constant
            while chunk := response.read(CHUNK):
                digest.update(chunk)
                file.write(chunk)
    except (URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        msg = (
            f"{address} cannot be reached ({reason}). Fetching needs a network; without one, every other data set "
            "works, and a copy of gowalla.parquet (columns lon and lat) may be put in the data folder by hand."
        )
        raise InputError(msg) from error
    return digest.hexdigest()


def check_digest(digest: str, known: Path) -> None:
    """Refuse a file that is not the one fetched before."""
    if known.is_file() and known.read_text().split()[0] != digest:
        msg = f"the file's SHA-256 is {digest}, and {known.name} states another. Remove that to accept the new file."
        raise InputError(msg)


def read_checkins(archive: Path) -> pa.Table:
    """Longitude and latitude of every line, null where there is none."""
    return csv.read_csv(
        archive,
        read_options=csv.ReadOptions(column_names=COLUMNS),
        parse_options=csv.ParseOptions(delimiter="\t"),
        convert_options=csv.ConvertOptions(
            include_columns=("lon", "lat"), column_types={"lon": pa.float64(), "lat": pa.float64()}
        ),
    )
