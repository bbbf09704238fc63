"""Densities summed over rectangles and polygons. Public side."""
