"""The account of every release: what was granted, what was spent, and the releases themselves. It never sees points."""

DEFAULT_LEDGER = "hushgrid.ledger"  # where none is named and HUSHGRID_LEDGER is not set
