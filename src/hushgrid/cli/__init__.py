"""The command line.

Heavy modules are imported inside the commands, so that help comes at once.
"""

import click

from hushgrid.cli.commands.audit import audit_command
from hushgrid.cli.commands.compare import compare_command
from hushgrid.cli.commands.demo import demo
from hushgrid.cli.commands.describe import describe_command, verify_command
from hushgrid.cli.commands.export import export, sample_command
from hushgrid.cli.commands.ledger import ledger
from hushgrid.cli.commands.manifest import manifest_command
from hushgrid.cli.commands.plan import plan_command
from hushgrid.cli.commands.publish import publish_command
from hushgrid.cli.commands.query import query
from hushgrid.cli.commands.start import start_command
from hushgrid.cli.commands.web import draw_map, serve
from hushgrid.cli.parameters import example
from hushgrid.cli.program import Program, completion


@click.group(
    cls=Program,
    commands=[
        start_command,
        plan_command,
        publish_command,
        query,
        compare_command,
        draw_map,
        serve,
        sample_command,
        export,
        describe_command,
        verify_command,
        manifest_command,
        ledger,
        audit_command,
        demo,
        completion,
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=example(
        "publish trips.parquet --domain -74.26,40.48,-73.70,40.92 --epsilon 1 -o trips.dp.parquet",
        "query trips.dp.parquet --rect -74,40.7,-73.9,40.8",
    ),
    invoke_without_command=True,
)
@click.version_option(package_name="hushgrid", message="hushgrid %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Publish a map of people without publishing anyone.

    hushgrid turns a table of sensitive points into a synopsis under differential privacy: one GeoParquet file of cells
    with noisy counts, which answers how many points lie in any area. From then on nobody needs the points.

    To see it at work: hushgrid demo. For the first release of your own: hushgrid start
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
