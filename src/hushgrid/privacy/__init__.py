"""The only code that makes noise."""
