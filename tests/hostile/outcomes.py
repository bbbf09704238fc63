"""What may become of a hostile input: it is read, or refused in one line. Nothing else."""

import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from click.testing import CliRunner, Result

from hushgrid.cli import main
from hushgrid.errors import HushgridError

CODES = {0, 2, 3, 4, 5}
MEMORY = 3 * 2**30  # bytes of addresses that a process may have
LONGEST_MESSAGE = 2_000

# Values of JSON that stand where another was expected.
STRANGE = [
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**12, 10**400, 0.5, -0.0, 5e-324, 1.7e308, -1.7e308),
    *("", "x", "1", "1/3", "1" + "0" * 500, "1/1" + "0" * 500, "\ud800", "\x1b[2J", "\0", "../../x", "=1+1", "€" * 99),
    *([], [[]], {}, [None], [0], {"": 0}, [1.7e308] * 5, ["\ud800"], {"\x1b": "\x1b"}),
]


def command(*arguments: object, stdin: bytes | None = None) -> Result:
    """Run a command in this process; it ends as documented, and says nothing that commands a terminal."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code in CODES, (arguments[:1], result.output[-500:], result.exception)
    _check_text(result.output)
    return result


def limited(*arguments: object, code: str | None = None, stdin: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command, or code, in a process of its own, of little memory; it ends as documented."""
    program = ["-c", code] if code else ["-m", "hushgrid"]
    result = subprocess.run(
        [sys.executable, *program, *map(str, arguments)],
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        check=False,
    )
    assert result.returncode in CODES, (arguments, result.returncode, result.stderr[-2000:])
    assert "Traceback" not in result.stderr
    return result


def peak_of(code: str, *arguments: object) -> int:
    """Run code in a process of its own; most megabytes it had in memory, by what the system says of that process."""
    # getrusage would begin with the memory of the process that started it.
    status = "\nfrom pathlib import Path\nprint(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])"
    return int(limited(*arguments, code=code + status).stdout) // 1024


def read_or_refused(look: Callable[[], object]) -> bool:
    """Whether something could be read; if not, the complaint is one of ours, and one line."""
    try:
        look()
    except HushgridError as error:
        assert "\n" not in str(error)  # noqa: PT017
        assert len(str(error)) < LONGEST_MESSAGE  # noqa: PT017
        return False
    return True


def mutants(content: bytes, number: int, seed: int) -> Iterator[bytes]:
    """Files with bytes changed, cut out, doubled, or overwritten by extreme numbers."""
    rng = random.Random(seed)
    extremes = [b"\xff" * 4, b"\xff\xff\xff\x7f", bytes(4), b"\x80" * 8, bytes(8), b"\xff" * 8 + b"\x7f"]
    for _ in range(number):
        mutant = bytearray(content)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(mutant)) if rng.random() < 0.5 else max(0, len(mutant) - rng.randint(1, 4096))
            size = rng.choice([1, 1, 1, 4, 64])
            match rng.randrange(5):
                case 0 | 1:
                    mutant[place] ^= 1 << rng.randrange(8)
                case 2:
                    del mutant[place : place + size]
                case 3:
                    mutant[place:place] = mutant[place : place + size]
                case 4:
                    extreme = rng.choice(extremes)
                    mutant[place : place + len(extreme)] = extreme
            if not mutant:
                mutant = bytearray(b"\0")
        yield bytes(mutant)


def strange_paths(folder: Path, name: str) -> dict[str, Path]:
    """Paths that are no regular file, with a name that ends as it should."""
    folder.joinpath("folder-" + name).mkdir()
    os.mkfifo(folder / ("pipe-" + name))
    links = {"zero-" + name: "/dev/zero", "null-" + name: "/dev/null", "loop-" + name: "loop-" + name}
    links |= {"dangling-" + name: "nowhere", "tty-" + name: "/dev/tty"}
    for link, target in links.items():
        folder.joinpath(link).symlink_to(target)
    names = ["folder-" + name, "pipe-" + name, *links, "a" * 300 + name, f"loop-{name}/{name}", "missing-" + name]
    return {each[:20]: folder / each for each in names}


def _check_text(text: str) -> None:
    assert "Traceback" not in text
    assert "unexpected error" not in text
    assert "".join(text.split()).isprintable()
