"""The few exceptions that hushgrid raises.

Each carries the exit code the command line ends with. No message holds anything read from the points: a message
names arguments, declared columns and files, never a value, a count or a coordinate.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

LONGEST_QUOTE = 80  # characters of what was given, in a message


def quoted(value: object) -> str:
    """A value as messages show it, on one line.

    Examples
    --------
    >>> quoted("here"), quoted(10**5000), len(quoted("9" * 5000))
    ("'here'", 'a value of type int', 80)
    """
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # of a whole number with thousands of digits
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"


class HushgridError(Exception):
    """Parent of every exception hushgrid raises on purpose.

    Parameters
    ----------
    complaint : str
        What was given, and what is allowed.
    instead : mapping of str to object, optional
        Arguments that would do. They end the message, and the command line makes a command of them.

    Examples
    --------
    >>> print(ArgumentError("epsilon must be above 0, got epsilon=0.", instead={"epsilon": 1}))
    epsilon must be above 0, got epsilon=0. Try epsilon=1.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, complaint: str = "", *, instead: Mapping[str, object] | None = None) -> None:
        super().__init__(complaint)
        self.complaint = complaint
        self.instead = dict(instead or {})

    def __str__(self) -> str:
        if not self.instead:
            return self.complaint
        plain = {name: str(value) if isinstance(value, Path) else value for name, value in self.instead.items()}
        return f"{self.complaint} Try {', '.join(f'{name}={value!r}' for name, value in plain.items())}."


class ArgumentError(HushgridError, ValueError):
    """An argument is outside what is allowed."""

    exit_code = 2


class MissingExtraError(HushgridError, ImportError):
    """An optional dependency is not installed."""

    exit_code = 2


class InputError(HushgridError):
    """A file or table is missing or damaged.

    Or it lacks a declared column or type.
    """

    exit_code = 3


class EngineError(HushgridError):
    """The engine failed while counting.

    Its job was killed, say, or its connection was lost. Nothing was released; the run can be resumed.
    """


class SynopsisFileError(InputError):
    """A release file is damaged or of unknown schema.

    Or it contradicts itself.
    """


class BudgetError(HushgridError):
    """More budget was asked for than was granted."""

    exit_code = 4


class LedgerError(HushgridError):
    """A ledger is busy, damaged or missing.

    Or it does not know what it is asked about.
    """

    exit_code = 5


class HushgridWarning(UserWarning):
    """A release may not be what its steward wanted."""
