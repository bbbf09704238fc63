"""One release in many slices: by kind, by time."""
