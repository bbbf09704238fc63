"""The map of a synopsis, and its server. Public side."""
