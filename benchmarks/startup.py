"""How long it takes to import the library and to ask for help."""

import os
import subprocess
import sys
import tempfile

from benchmarks.row import Row, best


def rows():
    """Warm times of fresh processes, the interpreter's own start included."""

    def run(*arguments):
        return lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    bare = best(run("-c", "pass"))
    library = best(run("-c", "import hushgrid"))
    help_page = best(run("-m", "hushgrid", "--help"))
    first_demo = best(_demo_with_nothing_compiled, times=1)
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
        Row(
            name="hushgrid demo, nothing compiled",
            measured=first_demo,
            target=10,
            unit="s",
            better="lower",
            note="by the clock, on two quiet cores or more",
        ),
    ]


def _demo_with_nothing_compiled():
    with tempfile.TemporaryDirectory() as folder:
        empty = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/kernels"}
        demo = [sys.executable, "-m", "hushgrid", "demo", "-o", f"{folder}/demo"]
        subprocess.run(demo, check=True, capture_output=True, env=empty)
