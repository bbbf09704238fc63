"""Releases to attack: made-up records in one corner of a domain, published, and all that can be seen of it."""

import io
import logging
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushgrid.audit.check import Setting
from hushgrid.audit.examples import LARGE
from hushgrid.audit.neighbours import UNIT_SQUARE
from hushgrid.errors import SynopsisFileError
from hushgrid.files.verify import verify_file
from hushgrid.methods import METHODS
from hushgrid.methods.method import Method
from hushgrid.release.publish import publish
from hushgrid.synopsis.synopsis import Synopsis

PLASTIC = 1.32471795724474602596  # x**3 = x + 1; its powers fill the plane evenly (Roberts 2018, sequence R2)
RECORDS = 4217  # a number that nothing else in a release looks like
POINTS = 0.03 + 0.38 * (np.outer(np.arange(1, RECORDS + 1), [1 / PLASTIC, 1 / PLASTIC**2]) % 1)
CORNER = 0.5  # beyond which there is no record, either way
RELEASES = 4  # of each method, because noise may hit a true value by chance once
LARGEST_EPSILON = Fraction(1)  # above, noise is so small that it would hit true values often
TEXT_KEYS = (b"hushgrid", b"geo")  # the other parts of a footer hold nothing but numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class Sight:
    """One release, and everything that could be seen of it.

    Parameters
    ----------
    release : Synopsis
    table : pyarrow.Table
        The rows of its file.
    text : str
        Whatever of the file is text, its name and its description.
    said : str
        What was printed, logged or warned of meanwhile.
    complaints : tuple of str
        Of `verify`.
    """

    release: Synopsis
    table: pa.Table
    text: str
    said: str
    complaints: tuple[str, ...]


def sights(setting: Setting) -> dict[str, list[Sight]]:
    """Some releases of each method."""
    look = partial(_sight, setting=setting)
    return {name: [look(LARGE.get(name) or METHODS[name]()) for _ in range(RELEASES)] for name in setting.methods}


def _sight(method: Method, *, setting: Setting) -> Sight:
    with tempfile.TemporaryDirectory() as folder, overheard() as said:
        release = publish(
            POINTS,
            domain=UNIT_SQUARE,
            epsilon=min(setting.epsilon, LARGEST_EPSILON),
            method=method,
            calibrate=False,
            progress=lambda _: None,
            rng=setting.rng,
        )
        path = Path(folder) / "release.dp.parquet"
        release.save(path, allow_simulation=setting.rng is not None)
        table = pq.ParquetFile(path, pre_buffer=False).read(use_threads=False)
        metadata = pq.read_metadata(path).metadata or {}
        complaints = _complaints(path)
    parts = [*(metadata.get(key, b"").decode() for key in TEXT_KEYS), repr(release), release.claim.sentence]
    return Sight(release=release, table=table, text="\n".join(parts), said=said.getvalue(), complaints=complaints)


def _complaints(path: Path) -> tuple[str, ...]:
    """What `verify` has to say against a file; in tests, seeded noise is no complaint."""
    try:
        checks = verify_file(path).checks
    except SynopsisFileError:
        return ("it cannot be read",)
    return tuple(check.name for check in checks if not check.ok and check.name != "release")


@contextmanager
def overheard() -> Iterator[io.StringIO]:
    """Everything that is printed, logged or warned of, as text."""
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    logging.getLogger().addHandler(handler)
    try:
        with redirect_stdout(said), redirect_stderr(said), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            yield said
        said.writelines(f"{warning.message}\n" for warning in warned)
    finally:
        logging.getLogger().removeHandler(handler)
