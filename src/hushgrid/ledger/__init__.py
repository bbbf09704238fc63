"""The ledger: budgets, what spent them, and the releases.

It never sees points.
"""

DEFAULT_LEDGER = "hushgrid.ledger"  # where none is named and HUSHGRID_LEDGER is not set
