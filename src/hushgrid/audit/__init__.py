"""Evidence about privacy from what a build does."""
