"""How far a pass over the points has come: a bar on a terminal, nothing elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def reading() -> Iterator[Callable[[float], None] | None]:
    """A bar on stderr for each pass over the points, told the share read so far.

    Privacy
    -------
    Shows a percentage, never a number of rows or points.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        passes = [bar.add_task("Reading points", total=1.0)]

        def show(share: float) -> None:
            if share < bar.tasks[-1].completed:
                passes.append(bar.add_task("Reading points again", total=1.0))
            bar.update(passes[-1], completed=share)

        yield show
