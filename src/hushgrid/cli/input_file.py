"""Files and standard input that a command reads."""

from pathlib import Path

from hushgrid.errors import ArgumentError

STANDARD_INPUT = "-"


def check_input(path: Path) -> None:
    """Refuse pipes and devices, which may have no end; ``-`` is standard input, which whoever fills it ends."""
    from hushgrid.files.paths import IRREGULAR, irregularity

    if str(path) != STANDARD_INPUT and irregularity(path) == IRREGULAR:
        msg = f"it {IRREGULAR}. Give a file, or - for standard input."
        raise ArgumentError(msg)
