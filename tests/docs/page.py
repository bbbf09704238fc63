"""A page of the documentation: its header comments and its code blocks, hidden ones included."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUN = frozenset({"console", "pycon", "python", "sh"})
SHOWN = frozenset({"csv", "diff", "html", "ini", "js", "json", "r", "sql", "text", "toml", "yaml"})

FENCE = re.compile(r"^ *(`{3,}) *([^`]*?) *$")
HEADER = re.compile(r"^<!-- (files|needs|slow|not run): (.+) -->$")
NOT_RUN = re.compile(r"^ *<!-- not run: (.+) -->$")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the line it begins on, and why it is not run, if so."""

    language: str
    text: str
    line: int
    not_run: str | None = None


@dataclass(frozen=True)
class Page:
    """A page and what its header comments ask for."""

    path: Path
    blocks: tuple[Block, ...]
    files: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    slow: str | None = None

    @property
    def name(self) -> str:
        """Its path in the repository."""
        return self.path.relative_to(ROOT).as_posix() if self.path.is_relative_to(ROOT) else self.path.name

    @property
    def code(self) -> list[Block]:
        """The blocks in a language that is run."""
        return [block for block in self.blocks if block.language in RUN]

    @property
    def run(self) -> list[Block]:
        """Those that are run."""
        return [block for block in self.code if block.not_run is None]


def read_page(path: Path) -> Page:
    """A page, as its text says. A comment before the title speaks for all of the page."""
    lines = path.read_text().splitlines()
    title = next((number for number, line in enumerate(lines) if line.startswith("# ")), len(lines))
    header = dict(match.groups() for line in lines[:title] if (match := HEADER.match(line)))
    return Page(
        path=path,
        blocks=tuple(_blocks(lines, header.get("not run"))),
        files=tuple(header.get("files", "").split()),
        needs=tuple(header.get("needs", "").split()),
        slow=header.get("slow"),
    )


def every_page() -> list[Page]:
    """The README and all of docs/."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [read_page(path) for path in paths if "_build" not in path.parts]


def _blocks(lines: list[str], not_run: str | None) -> Iterator[Block]:
    numbered = iter(enumerate(lines, start=1))
    above = ""
    for number, line in numbered:
        if (fence := FENCE.match(line)) is None:
            above = line
            continue
        indent, ticks = len(line) - len(line.lstrip()), fence[1]
        inside = []
        for _, inner in numbered:
            if inner.strip() == ticks:
                break
            inside.append(inner[indent:])
        reason = match[1] if (match := NOT_RUN.match(above)) else not_run
        yield Block(fence[2], "\n".join(inside), number, reason)
        above = ""
