"""From a request to a release: checked, charged, published, calibrated. Private side."""
