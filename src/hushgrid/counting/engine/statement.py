"""Whether a text is a query or the name of something."""

QUERY_WORDS = ("select", "with", "from")


def is_query(text: str) -> bool:
    """Whether a text is a query in SQL.

    Examples
    --------
    >>> is_query("SELECT lon, lat FROM trips"), is_query("selected.parquet")
    (True, False)
    """
    words = text.split(maxsplit=1)
    return len(words) == 2 and words[0].lower() in QUERY_WORDS
