"""The documents argue for every method and use every command, and their links lead somewhere."""

import re
from pathlib import Path

import pytest

from hushgrid.cli import main
from hushgrid.methods import METHODS
from tests.docs.page import ROOT

DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)]
)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_privacy_argument(name: str) -> None:
    """Under its name."""
    assert f"`{name}`" in (ROOT / "docs" / "privacy.md").read_text()


@pytest.mark.parametrize("name", main.commands)
def test_every_command_is_documented(name: str) -> None:
    """In the README or in docs/, where it is used; the reference has its help."""
    used = [document for document in DOCUMENTS if document.parent.name != "reference"]

    assert any(f"hushgrid {name}" in document.read_text() for document in used)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    """Files that are linked to exist."""
    prose = re.sub(r"```.*?```|`[^`\n]+`", "", document.read_text(), flags=re.DOTALL)
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", prose)

    assert [target for target in targets if not (document.parent / target).exists()] == []
