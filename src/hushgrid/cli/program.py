"""How a command ends when something goes wrong: one line on stderr, and an exit code."""

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click

from hushgrid.errors import HushgridError

DEBUG = "HUSHGRID_DEBUG"
UNEXPECTED = 1
INTERRUPTED = 130  # 128 + the number of the signal, as shells have it


class Program(click.Group):
    """A group of commands that turns every exception into one line and an exit code.

    Privacy
    -------
    The traceback and text of an exception that hushgrid did not raise itself may hold data: they are shown only to
    whoever asks for them.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command that the arguments name; in standalone mode, end the process."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra) or 0
        except Exception as error:  # noqa: BLE001  # the edge of the program
            if os.environ.get(DEBUG):
                traceback.print_exc()
            code, message = ending(error)
            click.echo(f"hushgrid: {one_line(message)}", err=True)
        sys.exit(code)


def ending(error: Exception) -> tuple[int, str]:
    """Exit code and message of an exception."""
    match error:
        case click.Abort():
            return INTERRUPTED, "interrupted; nothing was left half-written."
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "hushgrid"
            return error.exit_code, f"error: {error.format_message()} See '{command} --help'."
        case click.ClickException():
            return error.exit_code, f"error: {error.format_message()}"
        case HushgridError():
            return error.exit_code, f"error: {error}"
        case _:
            # The text of a system error comes from the system; that of any other may come from the data.
            reason = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
            return UNEXPECTED, (
                f"unexpected error: {type(error).__name__}{reason}. Set {DEBUG}=1 to see the traceback; "
                "it may hold data, so look before you pass it on."
            )


def one_line(text: str) -> str:
    r"""Text with every run of white space as one space.

    Examples
    --------
    >>> one_line("two\n   lines")
    'two lines'
    """
    return " ".join(text.split())
