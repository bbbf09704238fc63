"""Counting inside the engine that holds the data, so that only the counts of cells travel. Private side."""
