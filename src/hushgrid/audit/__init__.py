"""Evidence about privacy from what a build does: lower bounds on epsilon, and noise held against its exact law."""
