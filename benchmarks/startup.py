"""How long it takes to import the library and to ask for help."""

import subprocess
import sys

from benchmarks.row import Row, best


def rows():
    """Warm times of fresh processes, the interpreter's own start included."""

    def run(*arguments):
        return lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    bare = best(run("-c", "pass"))
    library = best(run("-c", "import hushgrid"))
    help_page = best(run("-m", "hushgrid", "--help"))
    return [
        Row(
            name="import hushgrid, warm",
            measured=library - bare,
            target=0.5,
            unit="s",
            better="lower",
            note=f"interpreter alone {bare:.2f} s",
        ),
        Row(name="hushgrid --help, warm", measured=help_page, target=1.0, unit="s", better="lower"),
    ]
