"""The released object: counts of rectangles with intervals, its file, its check. Public side."""
