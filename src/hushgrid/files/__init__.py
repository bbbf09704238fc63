"""Files: the release format and its check, and safe paths. Public side."""
