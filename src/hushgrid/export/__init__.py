"""Other forms of a release: files for map software and tables, synthetic points, pictures."""
