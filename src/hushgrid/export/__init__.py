"""A release in other forms: files, points, pictures."""
