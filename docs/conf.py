"""How the site is built: `make docs`, offline, warnings are errors."""

import sys
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from hushgrid.version import __version__

ROOT = Path(__file__).parents[1]
PAGES = {
    ROOT / "README.md": "index",
    ROOT / "ARCHITECTURE.md": "about/architecture",
    ROOT / "CHANGELOG.md": "about/changelog",
    ROOT / "CONTRIBUTING.md": "about/contributing",
    ROOT / "docs/decisions": "decisions/README",
    ROOT / "docs/how-to": "how-to/index",
    ROOT / "docs/reference": "reference/index",
}

project = "hushgrid"
author = "The hushgrid authors"
project_copyright = author
version = release = __version__

sys.path.insert(0, str(ROOT / "docs"))
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "help_text",
]
smartquotes = False  # -- begins an option
exclude_patterns = ["_build", "pictures"]
suppress_warnings = ["misc.highlighting_failure"]  # SQL with $parameters

myst_heading_anchors = 4  # links to headings, as code hosts make them

default_role = "code"  # what docstrings have between single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the sections of parameters say it in words
napoleon_google_docstring = False
napoleon_custom_sections = ["Privacy"]
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"hushgrid {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#14606b", "color-brand-content": "#14606b"},
    "dark_css_variables": {"color-brand-primary": "#7fd1ae", "color-brand-content": "#7fd1ae"},
}


def mend_links(app: Sphinx, page: nodes.document) -> None:
    """Make links that lead somewhere on a code host do so on the site.

    Some files and folders of the repository have a page here. Of other folders and documents the name stays, without
    a link; files of code need no mending, since the site has copies of them.
    """
    here = Path(app.env.doc2path(app.env.docname)).parent
    for link in [link for link in page.findall(addnodes.pending_xref) if link["reftype"] == "myst"]:
        suffix = ".md" if link["refdomain"] == "doc" else ""
        if suffix and not link["reftarget"].startswith("/"):
            continue  # a page of the site
        targets = [(start / f"{link['reftarget']}{suffix}").resolve() for start in (here, ROOT)]
        found = next((PAGES[target] for target in targets if target in PAGES), None)
        if found is not None:
            link.attributes.update(refdomain="doc", reftarget=found, reftargetid=None)
        elif any(target.exists() for target in targets):
            link.replace_self(link.children)


def setup(app: Sphinx) -> None:
    """Connect what is written above."""
    app.connect("doctree-read", mend_links)
