"""Answers over rectangles and polygons: densities that can be summed, with their loops. Public side."""
