"""``hushgrid compare``: what changed from one release to another."""
