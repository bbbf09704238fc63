"""What can go wrong, as the few exceptions hushgrid raises.

Each carries the exit code the command line ends with. No message holds anything read from the points: a message
names arguments, declared columns and files, never a value, a count or a coordinate.
"""

from typing import ClassVar


class HushgridError(Exception):
    """Parent of every exception hushgrid raises on purpose."""

    exit_code: ClassVar[int] = 1


class ArgumentError(HushgridError, ValueError):
    """An argument is outside what is allowed."""

    exit_code = 2


class MissingExtraError(HushgridError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    exit_code = 2


class InputError(HushgridError):
    """A file or table is missing, damaged, or lacks a declared column or type."""

    exit_code = 3


class SynopsisFileError(InputError):
    """A release file is damaged, contradicts itself, or is of an unknown schema."""


class BudgetError(HushgridError):
    """More budget was asked for than was granted."""

    exit_code = 4


class LedgerError(HushgridError):
    """A ledger is busy, damaged or missing, or does not know what it is asked about."""

    exit_code = 5
