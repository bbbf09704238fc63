"""Running a page: its blocks in order, in a folder of its own, each compared with what it shows."""

import doctest
import io
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import partial
from pathlib import Path
from signal import SIGINT
from typing import Any
from unittest import mock

from tests.docs.made_files import make
from tests.docs.needs import NEEDS
from tests.docs.not_run import exemption
from tests.docs.page import ROOT, Block, Page
from tests.docs.printed import numbers, same
from tests.docs.shell import Shell

INTERRUPTED = "^C"
ABSOLUTE = re.compile(r"(?:^|[\s=>])/(?!dev/)\w", re.MULTILINE)


def run_page(page: Page, folder: Path) -> int:
    """The number of blocks that were run, all of them as the page has it.

    - ``python``: the blocks of a page share one namespace; none may raise or warn. What they print is not compared.
    - ``pycon``: ``>>>`` and ``...`` in the same namespace, and what is printed.
    - ``console``: a line that begins with ``$`` is a command, with ``>`` it goes on; what follows is all that it
      prints. A line ``^C`` interrupts it. A command may fail only where an error is shown.
    - ``sh``: commands that must not fail. What they print is not compared.

    Absolute paths are refused: a page stays in its folder.

    Raises
    ------
    AssertionError
        If something fails, or prints other than is shown; `tests.docs.printed.same` says what may differ.
    """
    inside, home = folder / "page", folder / "home"
    inside.mkdir()
    home.mkdir()
    with ExitStack() as stack:
        settings: dict[str, str] = {}
        for need in page.needs:
            settings |= stack.enter_context(NEEDS[need]())
        stack.enter_context(chdir(inside))
        for name in page.files:
            make(name)
        stack.enter_context(mock.patch.dict(os.environ, _environment(home) | settings))
        shell = stack.enter_context(Shell(inside, folder / "line.sh"))
        session = Session(page.name, inside, shell)
        for block in page.run:
            session.run(block)
    return len(page.run)


@dataclass
class Session:
    """The shell and the Python of one page."""

    page: str
    folder: Path
    shell: Shell
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    given: set[float] = field(default_factory=set)

    def run(self, block: Block) -> None:
        """Run a block in its language."""
        {"python": self.python, "pycon": self.pycon, "console": self.console, "sh": self.sh}[block.language](block)

    def python(self, block: Block) -> None:
        """Run a block in the namespace of the page."""
        self.given |= numbers(block.text)
        # Line numbers in a traceback are those of the page.
        code = compile("\n" * block.line + block.text, self.page, "exec")
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            exec(code, self.namespace)

    def pycon(self, block: Block) -> None:
        """Run a transcript of Python, statement by statement."""
        for example in doctest.DocTestParser().get_examples(block.text):
            self.given |= numbers(example.source)
            code = compile(example.source, self.page, "single")
            out = io.StringIO()
            with redirect_stdout(out), redirect_stderr(out):
                try:
                    exec(code, self.namespace)
                except Exception:  # noqa: BLE001  # a page may show any
                    traceback.print_exc(file=out)
            self.compare(example.source, example.want, out.getvalue(), block.line + example.lineno + 1)

    def console(self, block: Block) -> None:
        """Run a transcript of a shell, command by command."""
        for command, shown, line in commands(block):
            if exemption(command) is not None:
                continue
            self.check_inside(command, line)
            self.given |= numbers(command)
            before, interrupt, after = shown.partition(f"{INTERRUPTED}\n")
            if interrupt:
                printed, status = self.shell.interrupt(_on_a_free_port(command), partial(self.alike, before))
            else:
                printed, status = self.shell.run(command)
            self.compare(command, before + after, printed, line)
            fine = status == 0 or "error" in shown.lower() or (interrupt and status == -SIGINT)
            assert fine, f"{self.page}:{line}: exit status {status}\n$ {command}"

    def sh(self, block: Block) -> None:
        """Run a script, but for the lines that are not run here."""
        script = "\n".join(line for line in block.text.splitlines() if exemption(line) is None)
        self.check_inside(script, block.line)
        self.given |= numbers(block.text)
        printed, status = self.shell.run(script, strict=True)
        assert status == 0, f"{self.page}:{block.line}: exit status {status}\n{block.text}\nprinted\n{printed}"

    def check_inside(self, command: str, line: int) -> None:
        """Refuse what might read or write elsewhere than in the folder of the page."""
        assert not ABSOLUTE.search(command), f"{self.page}:{line}: an absolute path in {command}"

    def alike(self, shown: str, printed: str) -> bool:
        """Whether what is printed is what is shown; the folder of the page is nowhere."""
        return same(shown, printed.replace(f"{self.folder}/", "").replace(str(self.folder), "."), given=self.given)

    def compare(self, command: str, shown: str, printed: str, line: int) -> None:
        """Fail where a command prints other than is shown."""
        if not self.alike(shown, printed):
            difference = unified_diff(shown.splitlines(), printed.splitlines(), "shown", "printed", lineterm="")
            raise AssertionError("\n".join([f"{self.page}:{line}: {command.strip()}", *difference]))


def commands(block: Block) -> Iterator[tuple[str, str, int]]:
    """The commands of a console block, what is shown of the output of each, and their lines on the page."""
    command: list[str] = []
    shown: list[str] = []
    start = block.line
    for number, line in enumerate(block.text.splitlines(), start=block.line + 1):
        if line.startswith("$ "):
            if command:
                yield "\n".join(command), "".join(shown), start
            command, shown, start = [line[2:]], [], number
        elif command and not shown and (line.startswith("> ") or command[-1].endswith("\\")):
            command.append(line.removeprefix("> "))
        else:
            assert command, f"line {number}: a console block begins with a command, '$ ...'"
            shown.append(f"{line}\n")
    if command:
        yield "\n".join(command), "".join(shown), start


def _on_a_free_port(command: str) -> str:
    return f"{command} --port 0" if command.startswith("hushgrid serve ") else command


def _environment(home: Path) -> dict[str, str]:
    """Settings of commands: programs of this environment, a home of their own, no colours."""
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",  # the code of this checkout, wherever another is installed
        "PYTHONUNBUFFERED": "1",
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "NO_COLOR": "1",
    }
