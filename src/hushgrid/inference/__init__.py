"""Counts from noisy measurements: arrays in, arrays out.

Nothing here ever sees an exact count.
"""
