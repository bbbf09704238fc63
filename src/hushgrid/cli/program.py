"""The program around the commands: endings, help and completion.

When something goes wrong, a command ends with a line on stderr, the command that would work, and an exit code.
"""

import io
import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from click.shell_completion import get_completion_class

from hushgrid.cli.parameters import example
from hushgrid.errors import HushgridError

DEBUG = "HUSHGRID_DEBUG"
UNEXPECTED = 1
USAGE = 2
INTERRUPTED = 130  # 128 + the number of the signal, as shells have it


class Program(click.Group):
    """A group of commands that ends in good order.

    It turns every exception into one line and an exit code.

    A second line shows the command that would work, where that is clear.

    Privacy
    -------
    The traceback and text of an exception that hushgrid did not raise itself may hold data. They are shown only on
    request.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command that the arguments name.

        In standalone mode, end the process.
        """
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        typed = sys.argv[1:] if args is None else list(args)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # as stderr does: names hold what a terminal may not know
        try:
            with _ending_in_good_order():
                code = super().main(typed, prog_name, complete_var, standalone_mode=False, **extra) or 0
        except Exception as error:  # noqa: BLE001  # the edge of the program
            if os.environ.get(DEBUG):
                traceback.print_exc()
            code = self._complain(error, typed)
        sys.exit(code)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse options, reading ``help COMMAND`` as ``COMMAND --help``."""
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def _complain(self, error: Exception, typed: list[str]) -> int:
        from hushgrid.cli.way_out import holds_secret, scattered_bounds, way_out

        code, message = ending(error)
        better = None
        if not holds_secret(typed):
            better = way_out(error, self, typed)
            if code == USAGE and (scattered := scattered_bounds(typed)):
                message, better = f"error: {scattered[0]}", scattered[1]
            elif better is not None and isinstance(error, HushgridError):
                message = f"error: {error.complaint}"
        click.echo(f"hushgrid: {one_line(message)}", err=True)
        if better is not None:
            click.echo(f"Try: {one_line(shlex.join(['hushgrid', *better]))}", err=True)
        return code


def ending(error: Exception) -> tuple[int, str]:
    """Exit code and message of an exception."""
    match error:
        case click.Abort():
            return INTERRUPTED, "interrupted. No file was left half-written."
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "hushgrid"
            said = error.format_message()
            stop = "" if said.endswith((".", "?", "?)")) else "."
            return error.exit_code, f"error: {said}{stop} See '{command} --help'."
        case click.ClickException():
            return error.exit_code, f"error: {error.format_message()}"
        case HushgridError():
            return error.exit_code, f"error: {error}"
        case _:
            # The text of a system error comes from the system; that of any other may come from the data.
            reason = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
            return UNEXPECTED, (
                f"unexpected error: {type(error).__name__}{reason}. Set {DEBUG}=1 to see the traceback. "
                "It may hold data, so look before you pass it on."
            )


def one_line(text: str) -> str:
    r"""Text with all white space made single spaces.

    Examples
    --------
    >>> one_line("two\n   lines")
    'two lines'
    """
    return " ".join(text.split())


@contextmanager
def _ending_in_good_order() -> Iterator[None]:
    """Treat being told to end like Ctrl-C.

    So is the loss of the terminal. Then no file is left half-written.
    """
    names = ("SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    taken = [number for number in signals if signal.getsignal(number) is signal.SIG_DFL]  # nohup ignores one of them
    for number in taken:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


VARIABLE = "_HUSHGRID_COMPLETE"


@click.command(
    epilog=example(
        "completion bash > ~/.local/share/bash-completion/completions/hushgrid",
        "completion zsh > ~/.zfunc/_hushgrid",
        "completion fish > ~/.config/fish/completions/hushgrid.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a completion script for a shell.

    It completes commands, options, methods and files. Put it where your shell looks for it, as below, and start a new
    shell. For zsh, add this line to ~/.zshrc: fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(context.find_root().command, {}, "hushgrid", VARIABLE)
    # Not source(), which starts bash to ask its version.
    click.echo(script.source_template % script.source_vars())
