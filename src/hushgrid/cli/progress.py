"""How far a question to the points has come: a bar on a terminal, nothing elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def reading() -> Iterator[Callable[[float], None] | None]:
    """A bar on stderr that starts again with every question asked of the points.

    Privacy
    -------
    Shows whole per cents, the same ones whatever the points are. No time that is left and no speed: with these a
    picture of the terminal would tell how large the table is.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading points", total=1.0)

        def show(share: float) -> None:
            again = share < bar.tasks[0].completed
            bar.update(task, completed=share, description="Reading points again" if again else None)

        yield show
