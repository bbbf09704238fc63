"""A directive that shows what a command answers to `--help`, asked for when the site is built.

```{help} ledger init
```
"""

from typing import Any

import click
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from hushgrid.cli import main

WIDTH = 88  # characters that fit beside the contents of the site


def help_text(words: list[str]) -> str:
    """The help of the command that some words name; of the program itself, where there are none."""
    command: click.Command = main
    context = click.Context(main, info_name="hushgrid", **(main.context_settings | {"terminal_width": WIDTH}))
    for word in words:
        assert isinstance(command, click.Group)
        command = command.commands[word]
        context = click.Context(command, info_name=word, parent=context)
    return command.get_help(context)


class Help(Directive):
    """The help of a command, as it is printed."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """A block of text."""
        text = help_text(self.arguments[0].split() if self.arguments else [])
        return [nodes.literal_block(text, text, language="text")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("help", Help)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
