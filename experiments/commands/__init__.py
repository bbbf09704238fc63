"""One file a command of ``python -m experiments``."""
