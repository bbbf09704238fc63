"""Post-processing of noisy measurements: arrays in, arrays out. Nothing here has ever seen an exact count."""
