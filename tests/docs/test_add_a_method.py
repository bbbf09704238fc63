"""The how-to on adding a method is true: followed to the letter in a copy of the checkout, it works."""

import re
import shlex
from pathlib import Path

import pytest

from hushgrid.methods import METHODS
from tests.checkout import ROOT, copy_caches, copy_checkout, run_in

PAGE = (ROOT / "docs" / "how-to" / "add-a-method.md").read_text()
STEPS = re.findall(r"`([\w/.-]+\.\w+)`:\n\n```(python|diff)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
COMMANDS = [
    shlex.split(line)
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    for line in block.replace("\\\n", "").splitlines()
]
PYTHON = [path for path, _, _ in STEPS if path.endswith(".py")]
CHECKS = (("ruff", "format", "--check", *PYTHON), ("ruff", "check", *PYTHON), ("mypy",), ("lint-imports",))


def patched(text, hunks):
    """A text with every hunk applied: lines marked ` ` and `-` are looked for, ` ` and `+` come in their place."""
    for hunk in hunks.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        new = "".join(line[1:] for line in lines if line[0] in " +")
        assert text.count(old) == 1, f"found {text.count(old)} times:\n{old}"
        text = text.replace(old, new)
    return text


def test_the_page_names_a_file_for_every_block_of_code():
    """Every block is a step, so none is passed over when the page is followed."""
    assert len(STEPS) == len(re.findall(r"^```(?:python|diff)$", PAGE, re.MULTILINE)) > 4


def test_every_change_still_fits():
    """The lines that the page shows as they are stand in the files it names, once."""
    for path, kind, code in STEPS:
        if kind == "diff":
            patched((ROOT / path).read_text(), code)


def test_the_page_is_about_a_method_that_does_not_exist():
    """Else it would show nothing."""
    assert "square" not in METHODS
    assert not any((ROOT / path).exists() for path, kind, _ in STEPS if kind == "python")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the checkout in which the page was followed."""
    folder = copy_checkout(tmp_path_factory.mktemp("checkout"))
    copy_caches(folder)
    for path, kind, code in STEPS:
        (folder / path).write_text(patched((folder / path).read_text(), code) if kind == "diff" else code)
    return folder


@pytest.mark.slow
class TestFollowed:
    """What the page promises at its end."""

    def test_the_checks_pass(self, folder):
        """Format, lint, types and layers."""
        assert ["make", "check"] in COMMANDS
        for check in CHECKS:
            run_in(folder, *check)

    def test_all_suites_take_the_method(self, folder):
        """Its own tests, those of every method, and those that no list of methods forgets one."""
        (tests,) = (command for command in COMMANDS if "pytest" in command)
        printed = run_in(folder, *this_environment(tests))

        assert int(re.search(r"(\d+) passed", printed)[1]) > 40

    def test_a_forgotten_step_shows(self, folder):
        """Negative control: without an argument why it is private, a test complains."""
        arguments = folder / "docs" / "privacy.md"
        kept = arguments.read_text()
        arguments.write_text(kept.replace("`square`", "square"))
        try:
            with pytest.raises(AssertionError, match="test_every_method_has_a_privacy_argument"):
                run_in(folder, "pytest", "tests/docs/test_readme.py", "-k", "privacy_argument")
        finally:
            arguments.write_text(kept)

    def test_it_can_be_tried_on_data(self, folder):
        """The last two lines, with fewer releases."""
        attempt, show = (this_environment(command) for command in COMMANDS if "experiments" in command)
        run_in(folder, *attempt, "--runs", "1")

        assert "square" in run_in(folder, *show).lower()


def this_environment(command):
    """A command of .venv as one of the environment that the tests run in."""
    return [str(Path(word).name) if word.startswith(".venv/bin/") else word for word in command]
