"""Every code block and shell line of the README and of docs/ runs, and prints what is shown."""

from pathlib import Path

import pytest

from tests.docs.made_files import FILES
from tests.docs.needs import NEEDS
from tests.docs.not_run import EXEMPTIONS, covered
from tests.docs.page import RUN, SHOWN, Page, every_page
from tests.docs.session import run_page

PAGES = every_page()


def named(page: Page) -> object:
    """A page as a parameter; slow ones are run with the other slow tests."""
    return pytest.param(page, id=page.name, marks=[pytest.mark.slow] if page.slow else [])


@pytest.mark.parametrize("page", [named(page) for page in PAGES if page.run])
def test_the_page_prints_what_it_shows(page: Page, tmp_path: Path) -> None:
    """Each page is one session in a folder of its own; `run_page` says how blocks are run and compared."""
    assert run_page(page, tmp_path) == len(page.run)


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES if page.blocks])
def test_every_block_says_what_it_is(page: Page) -> None:
    """A block has a language, run or only shown, and one that is not run says why and which test covers it."""
    unknown = [
        block.line for block in page.blocks if block.language not in RUN | SHOWN and not block.language.startswith("{")
    ]
    assert unknown == []
    assert [block.line for block in page.code if block.not_run is not None and not covered(block.not_run)] == []


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES if page.files or page.needs])
def test_headers_name_what_there_is(page: Page) -> None:
    """Files that are made here, and needs that are known."""
    assert set(page.files) <= set(FILES)
    assert set(page.needs) <= set(NEEDS)


def test_exemptions_are_covered() -> None:
    """A line that is not run here names tests that exist."""
    assert [each.begins for each in EXEMPTIONS if not covered(each.reason)] == []


def test_nearly_all_blocks_run() -> None:
    """Of the blocks in a language that is run, at most one in ten is not."""
    code = [(page.name, block) for page in PAGES for block in page.code]
    left_out = [f"{name}:{block.line}: {block.not_run}" for name, block in code if block.not_run is not None]

    assert len(code) > 20
    assert len(left_out) <= len(code) / 10, "\n".join(left_out)
