"""The account of every release: what was granted, what was spent, and the releases themselves. It never sees points."""
