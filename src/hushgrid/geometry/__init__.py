"""Domains, rectangles and partitions: pure geometry, no counts, no randomness, no files."""
