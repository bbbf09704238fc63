"""The map of a synopsis as one web page. Public side: it takes a synopsis, and nothing else."""
