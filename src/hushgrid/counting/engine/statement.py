"""Whether a text is a query or the name of something."""

import os

QUERY_WORDS = ("select", "with", "from")


def is_query(text: str) -> bool:
    """Whether a text is a query in SQL; what exists under that name, such as ``from berlin.parquet``, is none.

    Examples
    --------
    >>> is_query("SELECT lon, lat FROM trips"), is_query("selected.parquet")
    (True, False)
    """
    words = text.split(maxsplit=1)
    return len(words) == 2 and words[0].lower() in QUERY_WORDS and not is_here(text)


def is_here(text: str) -> bool:
    """Whether a file or folder of this name exists on this machine."""
    return os.path.exists(text)  # noqa: PTH110  # a query may be longer than any path, which is an error to Path
