"""``hushgrid completion``: what the shell needs to complete commands, and what it is told."""

import click
from click.shell_completion import CompletionItem, get_completion_class

from hushgrid.cli.parameters import example

VARIABLE = "_HUSHGRID_COMPLETE"


@click.command(
    epilog=example(
        "completion bash > ~/.local/share/bash-completion/completions/hushgrid",
        "completion zsh > ~/.zfunc/_hushgrid",
        "completion fish > ~/.config/fish/completions/hushgrid.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that completes commands, options, methods and files.

    SHELL is bash, zsh or fish. Put the script where your shell looks for such scripts, as below, and start a new
    shell. For zsh, ~/.zshrc has to say: fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(context.find_root().command, {}, "hushgrid", VARIABLE)
    # Not source(), which starts bash to ask for its version.
    click.echo(script.source_template % script.source_vars())


def complete_method(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The methods whose names begin so."""
    from hushgrid.methods import METHODS
    from hushgrid.release.auto import AUTO

    return [CompletionItem(name) for name in (AUTO, *METHODS) if name.startswith(incomplete)]


def complete_file(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, where an argument may be something else as well."""
    return [CompletionItem(incomplete, type="file")]
