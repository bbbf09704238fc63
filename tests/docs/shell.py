"""One bash for all commands of a page, so that what one of them exports or enters holds for the next."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.checkout import with_usual_signals

END = "== the command ended with"
SECONDS = 300
SETTLED = 1.0  # a server says that it is there a little before it can be stopped in good order


class Shell:
    """A bash in a folder. What commands write to stdout and stderr comes in the order of a terminal."""

    def __init__(self, folder: Path, script: Path) -> None:
        self.folder, self.script = folder, script
        self.bash = self._start("--noprofile", "--norc")

    def _start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd=self.folder,
            start_new_session=True,
            preexec_fn=with_usual_signals,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        _kill(self.bash)
        self.bash.communicate()

    def run(self, command: str, *, strict: bool = False) -> tuple[str, int]:
        """What a command prints, and its exit status; with `strict`, the first failing line ends the shell."""
        assert self.bash.stdin is not None
        assert self.bash.stdout is not None
        self.script.write_text(f"{command}\n")
        flag = "set -e\n" if strict else ""
        end = f"_status=$?\nset +e\nprintf '\\n%s %d\\n' '{END}' $_status\n(exit $_status)\n"
        self.bash.stdin.write(f"{flag}. '{self.script}' </dev/null\n{end}")
        self.bash.stdin.flush()
        printed = []
        with _limit(self.bash):
            for line in self.bash.stdout:
                if line.startswith(END):
                    return "".join(printed), int(line.removeprefix(END))
                printed.append(line)
        return "".join(printed), self.bash.wait() or 1

    def interrupt(self, command: str, ready: Callable[[str], bool]) -> tuple[str, int]:
        """What a command prints that is stopped by Ctrl-C once it has printed enough."""
        running = self._start("-c", f"exec {command}")
        assert running.stdout is not None
        printed = []
        with _limit(running):
            for line in running.stdout:
                printed.append(line)
                if ready("".join(printed)):
                    break
            time.sleep(SETTLED)
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGINT)  # to all in the foreground, as a terminal does
            printed.append(running.communicate()[0])
        return "".join(printed), running.returncode


@contextmanager
def _limit(process: subprocess.Popen[str]) -> Iterator[None]:
    """Kill a process and its children when they take too long."""
    timer = threading.Timer(SECONDS, _kill, [process])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
