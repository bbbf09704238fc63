"""How commands end: exit codes, and one line on stderr."""

from importlib.metadata import version

import pyarrow.parquet as pq
import pytest

from hushgrid.cli import main
from hushgrid.cli.program import one_line
from hushgrid.errors import ArgumentError, BudgetError, HushgridError, InputError, MissingExtraError, SynopsisFileError
from tests.cli.commands import Run, assert_refused, parsed

SECRET = "-73.98765"


@pytest.fixture
def failing(publish: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `hushgrid publish` with an exception where the points would be opened."""

    def invoke(error: BaseException) -> object:
        def fail(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr("hushgrid.release.request.open_points", fail)
        return publish()

    return invoke


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (HushgridError, 1),
        (ArgumentError, 2),
        (MissingExtraError, 2),
        (InputError, 3),
        (SynopsisFileError, 3),
        (BudgetError, 4),
    ],
)
def test_each_error_has_its_exit_code(failing: Run, error: type[HushgridError], code: int) -> None:
    """The message of an error of our own is shown as it is, on one line."""
    assert_refused(failing(error("first line\nsecond line")), code, "error: first line second line")


@pytest.mark.parametrize("error", [RuntimeError, KeyError, ValueError, OSError, MemoryError])
def test_an_unexpected_error_shows_nothing_it_holds(failing: Run, error: type[Exception]) -> None:
    """Exit code 1, the kind of error and the way to see more; its text and traceback may hold data."""
    result = failing(error(f"bad row: {SECRET}"))

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"hushgrid: unexpected error: {error.__name__}. Set HUSHGRID_DEBUG=1")
    assert result.stderr.count("\n") == 1
    assert SECRET not in result.stderr


def test_the_system_s_own_reason_is_shown(failing: Run) -> None:
    """A full disk says so: that text is the system's, and not the data's."""
    assert "OSError (No space left on device)" in failing(OSError(28, "No space left on device")).stderr


def test_the_traceback_is_there_for_who_asks(failing: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """HUSHGRID_DEBUG=1 prints it before the line."""
    monkeypatch.setenv("HUSHGRID_DEBUG", "1")

    result = failing(RuntimeError(SECRET))
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert SECRET in result.stderr


def test_an_interrupt_while_reading_writes_nothing(failing: Run, tmp_path) -> None:
    """Exit code 130, a line on stderr, an empty folder."""
    result = failing(KeyboardInterrupt())

    assert result.exit_code == 130
    assert result.stdout == ""
    assert result.stderr.endswith("hushgrid: interrupted. No file was left half-written.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, RuntimeError])
def test_a_failure_while_writing_leaves_nothing(publish: Run, monkeypatch, tmp_path, error) -> None:
    """A failed write leaves no release, no temporary file, and no path on stdout."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(pq.ParquetWriter, "write_batch", fail)

    result = publish()
    assert result.exit_code != 0
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_no_command_prints_help(run: Run) -> None:
    """The bare name is a question."""
    assert run().stdout == run("--help").stdout


@pytest.mark.parametrize("command", ["", *main.commands])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_shows_an_example(run: Run, command: str, option: str) -> None:
    """Everywhere, in both spellings, with a command line that can be copied."""
    result = run(*command.split(), option)

    assert result.exit_code == 0
    assert f"Example:\n    hushgrid {command}" in result.stdout


def test_there_are_commands() -> None:
    """The fixed names, and no others."""
    reading = {"query", "compare", "describe", "verify", "manifest", "sample", "export", "map", "serve"}
    assert set(main.commands) == {"start", "plan", "publish", "ledger", "audit", "demo", "completion", *reading}


@pytest.mark.parametrize("arguments", [["demo"], ["publish", "a.csv"], ["query", "a.parquet"]], ids=" ".join)
def test_examples_parse(arguments: list[str]) -> None:
    """The examples in the help texts are accepted by the parser, up to the files they name."""
    command = main.commands[arguments[0]]
    example = next(line for line in command.epilog.splitlines() if line.startswith("  hushgrid"))

    parsed(command, example.split()[2:])


@pytest.mark.parametrize(
    "arguments", [["frobnicate"], ["--frobnicate"], ["query"], ["describe", "a", "b"]], ids=" ".join
)
def test_wrong_usage_says_where_help_is(run: Run, arguments: list[str]) -> None:
    """Exit code 2, one line, and the help to read."""
    assert_refused(run(*arguments), 2, "--help'.")


@pytest.mark.parametrize(
    ("arguments", "better"),
    {
        "nothing": ([], "POINTS --domain W,S,E,N --epsilon E --output FILE"),
        "points": (["a.csv"], "a.csv --domain W,S,E,N --epsilon E --output FILE"),
        "areas": (["a.csv", "--areas", "a.geojson"], "a.csv --areas a.geojson --epsilon E --output FILE"),
        "h3": (["a.csv", "--areas", "h3:8"], "a.csv --areas h3:8 --domain W,S,E,N --epsilon E --output FILE"),
    }.values(),
)
def test_all_that_is_missing_is_shown_at_once(run: Run, arguments: list[str], better: str) -> None:
    """The domain as well, unless areas have one of their own."""
    assert f"Try: hushgrid publish {better}\n" in run("publish", *arguments).stderr


def test_the_version_is_that_of_the_package(run: Run) -> None:
    """`hushgrid --version` says the name and the number."""
    assert run("--version").stdout == f"hushgrid {version('hushgrid')}\n"


def test_one_line_has_no_line_end() -> None:
    """Whatever white space there was is one space."""
    assert one_line(" a\r\n\tb  c\u2028d ") == "a b c d"


def test_what_was_typed_is_not_what_is_tried(run: Run) -> None:
    """Of a number outside its range nothing better is known."""
    for command in (("plan", "--by", "0"), ("sample", "x.dp.parquet", "-o", "-", "-n", "-7")):
        refused = run(*command)
        assert_refused(refused, 2, "is not in the range")
        assert "Try:" not in refused.stderr
    assert run("sample", "x.dp.parquet", "-o", "-", "-n", "1e3").stderr.endswith("-n 1000\n")
