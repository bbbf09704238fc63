"""The released object, its claim and its answers. Public side."""
