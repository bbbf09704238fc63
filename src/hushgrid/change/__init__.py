"""Two releases compared: what changed by more than noise explains."""
