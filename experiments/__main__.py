"""The command ``python -m experiments``."""

import click

from experiments.commands.attempt import try_command
from experiments.commands.docs import docs_command
from experiments.commands.fetch import fetch_command
from experiments.commands.report import report_command
from experiments.commands.run import run_command
from experiments.commands.show import show_command


@click.group()
def main() -> None:
    """Run the paper's evaluation and look at what came out."""


for command in (run_command, try_command, show_command, report_command, docs_command, fetch_command):
    main.add_command(command)

if __name__ == "__main__":
    main(prog_name="python -m experiments")
