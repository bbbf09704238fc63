"""The evaluation of the paper: data sets, workloads, metrics, trials, and the runner that keeps their results."""
