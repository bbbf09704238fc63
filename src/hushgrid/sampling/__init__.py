"""Synthetic points drawn from released values. Public side."""
