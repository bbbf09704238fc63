"""The hooks of pre-commit pass on this checkout, fetch nothing, and stop what must not be committed."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.checkout import BIN, ROOT, copy_caches, copy_checkout, run_in

CONFIG = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
HOOKS = {hook["id"]: hook for repository in CONFIG["repos"] for hook in repository["hooks"]}
FORBIDDEN = {
    "uv.lock": "locks",
    "docs/pylock.dev.toml": "locks",
    "trips.parquet": "points",
    "experiments/datasets/us_cvs.parquet": "points",
    "tests/golden/points.parquet": "points",
    "hushgrid.ledger": "points",
    "points.csv.gz": "points",
    "docs/large.txt": "size",
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of the checkout as a repository of its own, with this environment as its .venv."""
    folder = copy_checkout(tmp_path_factory.mktemp("clone"))
    run_in(folder, "git", "init", "--quiet")
    run_in(folder, "git", "add", "--all")
    (folder / ".venv").symlink_to(BIN.parent)
    copy_caches(folder)
    return folder


def hooks(folder, *arguments):
    """What pre-commit prints and its exit code, with a store of its own."""
    settings = {"PRE_COMMIT_HOME": str(folder / ".git" / "store"), "PYTHONPATH": str(folder / "src")}
    command = (BIN / "pre-commit", "run", "--color", "never", *arguments)
    done = subprocess.run(command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True)
    return done.stdout + done.stderr, done.returncode


def test_every_hook_is_local():
    """Of a language that needs no environment, so that nothing is fetched."""
    assert [repository["repo"] for repository in CONFIG["repos"]] == ["local"]
    assert {hook["language"] for hook in HOOKS.values()} <= {"system", "fail", "pygrep"}


def test_the_hooks_are_those_of_make_check():
    """Each tool of `make check` has one."""
    lines = (ROOT / "Makefile").read_text().partition("\ncheck:")[2].partition("\n\n")[0].splitlines()[1:]
    tools = {line.strip().removeprefix("$(BIN)/").removesuffix(" .") for line in lines}
    entries = {hook["entry"].removesuffix(" --force-exclude") for hook in HOOKS.values()}

    assert {f".venv/bin/{tool}" for tool in tools} <= entries
    assert len(tools) == 4


@pytest.mark.slow
@pytest.mark.parametrize("hook", HOOKS)
def test_the_hook_passes_on_every_file(clone, hook):
    """Every hook passes on all files of this checkout."""
    printed, code = hooks(clone, hook, "--all-files")

    assert code == 0, printed
    assert "Passed" in printed or HOOKS[hook]["language"] == "fail"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "hook"), FORBIDDEN.items())
def test_what_must_not_be_committed_is_stopped(clone, name, hook):
    """Each by the hook meant for it."""
    path = clone / name
    path.write_bytes(b"x" * (2_000_000 if hook == "size" else 1))
    run_in(clone, "git", "add", "--force", name)
    try:
        printed, code = hooks(clone, hook, "--files", name)
    finally:
        run_in(clone, "git", "rm", "--quiet", "--force", name)

    assert code == 1
    assert name in printed


@pytest.mark.slow
def test_badly_laid_out_code_is_stopped(clone):
    """Negative control of the format."""
    path = Path("src/hushgrid/version.py")
    kept = (clone / path).read_text()
    (clone / path).write_text(kept + "x=  1\n")
    try:
        printed, code = hooks(clone, "format", "--files", str(path))
    finally:
        (clone / path).write_text(kept)

    assert code == 1
    assert "1 file would be reformatted" in printed
