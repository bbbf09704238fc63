"""Domains, rectangles and partitions: pure geometry."""
