"""The release format, its check, safe paths. Public side."""
