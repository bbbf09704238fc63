"""``python -m hushgrid``."""

from hushgrid.cli import main

if __name__ == "__main__":
    main(prog_name="hushgrid")
