"""A figure or table of the evaluation: its words, and the functions that make it from rows."""

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.figure import Figure

from experiments.figures.table import Table
from experiments.trial import Row


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """What the report shows under one heading.

    Parameters
    ----------
    title, caption : str
        What it is, and how to read it.
    source : str
        The figure, table or section of the paper; empty beyond the paper.
    draw, table : functions of rows, optional
        At least one of them.
    """

    title: str
    caption: str
    source: str = ""
    draw: Callable[[list[Row]], Figure] | None = None
    table: Callable[[list[Row]], Table] | None = None
