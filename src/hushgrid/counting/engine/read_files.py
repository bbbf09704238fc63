"""The files that an engine reads, by which a later run sees that points are no longer the same."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from hushgrid.counting.snapshot import Snapshot, files_state

# Steps and expressions of Spark that take every row of a file, and nothing else.
STEPS = {"LogicalRelation", "Project", "SubqueryAlias", "View"}
EXPRESSIONS = {"AttributeReference", "Alias", "Cast"}


def known_files(table: Any) -> list[str]:
    """Addresses of the files that a table is, row by row; those of Spark's data frames are known, and no others.

    A frame that filters, samples, joins or takes rows from elsewhere may have other rows in another run, of the very
    same files, such as those of the last thirty days. It has no files here.

    Examples
    --------
    >>> import polars
    >>> known_files(polars.LazyFrame({"lon": [0.5]}))
    []
    """
    with suppress(Exception):  # of a cluster that keeps them to itself, too
        plan = table._jdf.queryExecution().analyzed()  # noqa: SLF001  # the public way only prints it
        if _reads_rows_alone(plan):
            return list(table.inputFiles())
    return []


def state_of_files(files: Iterable[str]) -> bytes | None:
    """What tells files on this machine from others, or from themselves after a change; None where any is elsewhere.

    Parameters
    ----------
    files : texts
        Paths and addresses, in any order.

    Examples
    --------
    >>> state_of_files(["s3a://city/trips.parquet"]), state_of_files([])
    (None, None)
    """
    paths = {file: _path(file) for file in files}
    if not paths or not all(path.is_file() for path in paths.values()):
        return None
    return files_state({file: Snapshot.of(path) for file, path in paths.items()})


def _path(file: str) -> Path:
    return Path(url2pathname(urlsplit(file).path) if file.startswith("file:") else file)


def _reads_rows_alone(plan: Any) -> bool:
    return (
        plan.nodeName() in STEPS
        and all(_is_column(expression) for expression in _each(plan.expressions()))
        and all(_reads_rows_alone(child) for child in _each(plan.children()))
    )


def _is_column(expression: Any) -> bool:
    return expression.nodeName() in EXPRESSIONS and all(_is_column(child) for child in _each(expression.children()))


def _each(sequence: Any) -> list[Any]:
    """The elements of a sequence of Scala."""
    return [sequence.apply(number) for number in range(sequence.size())]
